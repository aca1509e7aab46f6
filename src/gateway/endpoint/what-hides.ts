/** What hides a tool from a client of an endpoint: a switch of a namespace, a server that is off, a layer. */
import type { Origin } from "../../kernel/call.ts";
import { hiddenBy } from "../../middleware/list-rules.ts";
import type { HiddenTool } from "../../surface/scope.ts";
import type { Compiled, CompiledEndpoint, PlacedPart } from "../compile.ts";
import { hiddenBy as hiddenInNamespace } from "../view/server-view.ts";
import { whyHidden } from "../view/tool-rows.ts";
import type { EndpointLayers } from "./endpoint-layers.ts";
import type { EndpointView, Reachability } from "./endpoint-view.ts";
import { toolFacts } from "./facts.ts";

interface Sources {
  readonly compiled: () => Compiled;
  readonly current: () => CompiledEndpoint;
  readonly layers: EndpointLayers;
  readonly reachable: Pick<Reachability, "fault">;
  readonly view: EndpointView;
}

/**
 * Undefined if the tool does not exist. Quick, because callers may ask for any number of unknown tools.
 * `server` is empty if the client called the tool by its name in the list of all tools.
 */
export function whatHides(
  sources: Sources,
  server: string,
  tool: string,
  origin: Origin,
): HiddenTool | undefined {
  const { parts } = sources.current();
  if (server !== "") {
    const placed = parts.find(({ part }) => part.name === server);
    return placed ? inPart(sources, placed, tool, origin) : notPlaced(sources, server);
  }
  for (const placed of parts) {
    const own = ownName(placed, tool);
    const found = own === undefined ? undefined : inPart(sources, placed, own, origin);
    if (found) return found;
  }
  return undefined;
}

function inPart(
  { compiled, layers, reachable, view }: Sources,
  placed: PlacedPart,
  tool: string,
  { principal }: Origin,
): HiddenTool | undefined {
  const { part, namespace } = placed;
  const own = part.renamed.get(tool) ?? tool;
  const target = { server: part.server, tool: own };
  const hidden = hiddenInNamespace(part, own);
  if (hidden) {
    if (!part.off && !isKnown(view, placed, own)) return undefined;
    const [use, name] = hidden === "server" ? ["server", part.name] : ["namespace", namespace.object.name];
    const reason = whyHidden(placed, hidden, { compiled: compiled() });
    return { use, at: `${use} "${name}"`, reason, target };
  }
  const fault = reachable.fault(part.server);
  if (fault !== undefined) {
    // Without a prefix any name could be one of its tools.
    const named = part.prefix === "none" ? undefined : target;
    return { use: "server", at: `server "${part.name}"`, reason: fault, target: named };
  }
  const found = view.snapshot.resolve(part.name, tool);
  const rule = found && hiddenBy(layers.of(part.server), toolFacts(found, compiled()), principal);
  return rule && { ...rule, target };
}

/** With `newTools: "disabled"` every name counts as hidden, also one that the server does not have. */
function isKnown(view: EndpointView, { part }: PlacedPart, own: string): boolean {
  return part.rules.has(own) || view.lists(part.server, own);
}

/** The tool's name in its namespace, if it is called as in a list of all tools. */
function ownName({ part: { name, prefix } }: PlacedPart, tool: string): string | undefined {
  if (prefix === "none") return tool;
  const before = prefix === "server" ? name : prefix;
  for (const join of ["__", ""])
    if (tool.startsWith(before + join)) return tool.slice(before.length + join.length);
  return undefined;
}

function notPlaced({ compiled, current }: Sources, name: string): HiddenTool | undefined {
  const exists = [...compiled().servers.values()].some(({ object }) => object.name === name);
  if (!exists) return undefined;
  const at = `endpoint "${current().object.name}"`;
  return { use: "endpoint", at, reason: `server "${name}" is in no namespace of this endpoint` };
}
