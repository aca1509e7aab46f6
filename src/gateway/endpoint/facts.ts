/** The facts that layers use to judge a tool of an endpoint: own name, labels and effective annotations. */
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { ToolFacts } from "../../kernel/tool-facts.ts";
import type { Compiled } from "../compile.ts";
import type { Target } from "../view/server-view.ts";
import { View } from "../view/views.ts";

interface Named {
  readonly server: string;
  readonly name: string;
}

/** Undefined if there is no such tool here. */
export function factsOf(
  { snapshot }: Pick<CatalogView, "snapshot">,
  { server, name }: Named,
  compiled: Pick<Compiled, "servers">,
): (ToolFacts & { readonly uuid: string }) | undefined {
  if (!(snapshot instanceof View)) return undefined;
  if (name === "") return wholeFacts(snapshot.servers.get(server)?.part.server, compiled);
  const target = snapshot.resolve(server, name);
  return target && { ...toolFacts(target, compiled), uuid: target.server };
}

/** Facts of a server without tools. Its prompts and resources count as read-only. */
function wholeFacts(uuid: string | undefined, compiled: Pick<Compiled, "servers">) {
  return uuid === undefined
    ? undefined
    : { ...serverFacts(uuid, compiled), annotations: { readOnlyHint: true }, uuid };
}

type Servers = Compiled["servers"];

/** Every call needs facts, so they are cached while the tool and its server stay the same. */
const known = new WeakMap<Target, { readonly of: ReturnType<Servers["get"]>; readonly facts: ToolFacts }>();

export function toolFacts(target: Target, compiled: Pick<Compiled, "servers">): ToolFacts {
  const server = compiled.servers.get(target.server);
  const before = known.get(target);
  if (before && before.of === server) return before.facts;
  const facts = {
    ...serverFacts(target.server, compiled),
    name: target.name,
    annotations: target.shown?.annotations ?? {},
    definition: target.own?.definition,
  };
  known.set(target, { of: server, facts });
  return facts;
}

/** Facts of a request with a method that MetaMCP does not know. */
export function methodFacts(uuid: string, method: string, compiled: Pick<Compiled, "servers">): ToolFacts {
  return { ...serverFacts(uuid, compiled), name: method };
}

/** Facts for prompts and resources. */
export function serverFacts(uuid: string, { servers }: Pick<Compiled, "servers">): ToolFacts {
  const { object, spec } = servers.get(uuid) ?? {};
  return {
    server: object?.name ?? uuid,
    name: "",
    labels: object?.spec.labels ?? [],
    annotations: {},
    ...(spec?.perAccount ? { perAccount: true } : {}),
  };
}
