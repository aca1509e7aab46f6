/**
 * References between objects: endpoints to namespaces, namespaces to servers, policy tests to
 * endpoints, the registry to endpoints and servers.
 */
import { freeze } from "../kernel/freeze.ts";
import type { Specs, StoredObject } from "./objects.ts";
import type { PolicyTest } from "./schemas.ts";

type Holder = Pick<StoredObject, "kind" | "spec">;

/** The uuids that an object refers to. */
export function referencesOf({ kind, spec }: Holder): ReadonlySet<string> {
  if (kind === "endpoint") return new Set((spec as Specs["endpoint"]).namespaces);
  if (kind === "settings") {
    const { tests = {}, registry } = spec as Specs["settings"];
    const listed = [...(registry?.endpoints ?? []), ...(registry?.servers ?? [])];
    return new Set([...Object.values(tests).map(({ endpoint }) => endpoint), ...listed]);
  }
  if (kind !== "namespace") return new Set();
  const { servers, tools } = spec as Specs["namespace"];
  return new Set([...servers, ...tools].map(({ server }) => server));
}

/** The object without references to that uuid. */
export function withoutReference<H extends Holder>(holder: H, uuid: string): H {
  if (holder.kind === "endpoint") {
    const spec = holder.spec as Specs["endpoint"];
    return {
      ...holder,
      spec: freeze({ ...spec, namespaces: spec.namespaces.filter((one) => one !== uuid) }),
    };
  }
  if (holder.kind === "settings") {
    const spec = holder.spec as Specs["settings"];
    const kept = mapTests(spec.tests, (test) => (test.endpoint === uuid ? undefined : test));
    const listed = mapRegistry(spec.registry, (_list, listedUuid) =>
      listedUuid === uuid ? [] : [listedUuid],
    );
    return { ...holder, spec: freeze({ ...spec, ...kept, ...listed }) };
  }
  const spec = holder.spec as Specs["namespace"];
  const others = ({ server }: { readonly server: string }): boolean => server !== uuid;
  return {
    ...holder,
    spec: freeze({ ...spec, servers: spec.servers.filter(others), tools: spec.tools.filter(others) }),
  };
}

type Tests = Specs["settings"]["tests"];

/** The field `tests` with each test replaced; undefined removes it. No field if there is none. */
export function mapTests(
  tests: Tests,
  replace: (test: PolicyTest, name: string) => PolicyTest | undefined,
): { readonly tests?: NonNullable<Tests> } {
  if (!tests) return {};
  const mapped = Object.entries(tests).flatMap(([name, test]) => {
    const made = replace(test, name);
    return made ? [[name, made] as const] : [];
  });
  return { tests: Object.fromEntries(mapped) };
}

type Registry = Specs["settings"]["registry"];

/** The field `registry` with each endpoint and server replaced. No field if there is none. */
export function mapRegistry(
  registry: Registry,
  replace: (list: "endpoints" | "servers", reference: string, at: number) => readonly string[],
): { readonly registry?: NonNullable<Registry> } {
  if (!registry) return {};
  const { endpoints, servers } = registry;
  return {
    registry: {
      ...registry,
      endpoints: endpoints.flatMap((one, at) => replace("endpoints", one, at)),
      ...(servers && { servers: servers.flatMap((one, at) => replace("servers", one, at)) }),
    },
  };
}
