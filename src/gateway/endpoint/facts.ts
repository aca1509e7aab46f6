/** What layers judge a tool of an endpoint by: its server's own name, the labels, and the annotations that count. */
import type { CatalogView } from "../../catalog/catalog-view.ts";
import type { ToolFacts } from "../../kernel/tool-facts.ts";
import type { Compiled } from "../compile.ts";
import type { Target } from "../view/server-view.ts";
import { View } from "../view/views.ts";

interface Named {
  readonly server: string;
  readonly name: string;
}

/** Undefined where the names mean nothing here. */
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

/** Of a server without tools: what it has can only be read. */
function wholeFacts(uuid: string | undefined, compiled: Pick<Compiled, "servers">) {
  return uuid === undefined
    ? undefined
    : { ...serverFacts(uuid, compiled), annotations: { readOnlyHint: true }, uuid };
}

type Servers = Compiled["servers"];

/** Every call asks: they are the same while the tool and its server are. */
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

/** Of what is no tool. */
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
