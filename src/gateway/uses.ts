/** References between objects: endpoints to namespaces, namespaces to servers. */
import { freeze } from "../kernel/freeze.ts";
import type { Specs, StoredObject } from "./objects.ts";

type Holder = Pick<StoredObject, "kind" | "spec">;

/** The uuids that an object refers to. */
export function referencesOf({ kind, spec }: Holder): ReadonlySet<string> {
  if (kind === "endpoint") return new Set((spec as Specs["endpoint"]).namespaces);
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
  const spec = holder.spec as Specs["namespace"];
  const others = ({ server }: { readonly server: string }): boolean => server !== uuid;
  return {
    ...holder,
    spec: freeze({ ...spec, servers: spec.servers.filter(others), tools: spec.tools.filter(others) }),
  };
}
