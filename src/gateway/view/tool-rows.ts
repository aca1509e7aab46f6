/**
 * All tools of a server, namespace or endpoint for the admin API: enabled or not, with name and reason.
 * Computed on each request, not cached.
 */
import type { Tool } from "../../catalog/tool.ts";
import type {
  Compiled,
  CompiledEndpoint,
  CompiledNamespace,
  CompiledServer,
  PlacedPart,
} from "../compile.ts";
import type { NamespacePart } from "../part.ts";
import { type Judging, judgedRow } from "./judged-row.ts";
import { type Hidden, hiddenBy } from "./server-view.ts";
import { shownTool } from "./shown-tool.ts";
import type { ToolRow } from "./tool-row.ts";
import type { ListingOf } from "./views.ts";

export interface RowSources {
  readonly compiled: Pick<Compiled, "servers">;
  readonly listingOf: ListingOf;
  /** Returns why a server cannot be reached; undefined if it can. */
  readonly unreachable?: (server: string) => string | undefined;
  /** The layers that apply here, and the principal. */
  readonly judging?: Judging;
}

/** The tools under their own names, without any namespace. */
export function serverRows({ object, reason }: CompiledServer, sources: RowSources): readonly ToolRow[] {
  const { uuid } = object;
  const because = reason === undefined ? sources.unreachable?.(uuid) : `it cannot be used: ${reason}`;
  return (sources.listingOf(uuid)?.tools ?? []).map((tool) =>
    judgedRow(
      {
        server: uuid,
        tool: tool.name,
        name: tool.name,
        ...textsOf(tool),
        enabled: because === undefined,
        ...(because === undefined ? {} : { because }),
      },
      sources,
    ),
  );
}

export function namespaceRows(namespace: CompiledNamespace, sources: RowSources): readonly ToolRow[] {
  return namespace.parts.flatMap((part) => rowsOf({ part, namespace }, sources));
}

export function endpointRows({ parts }: CompiledEndpoint, sources: RowSources): readonly ToolRow[] {
  return parts.flatMap((placed) => rowsOf(placed, sources));
}

function rowsOf(placed: PlacedPart, sources: RowSources): readonly ToolRow[] {
  const { part } = placed;
  const listing = sources.listingOf(part.server);
  const listed = new Map(listing?.tools.map((tool) => [tool.name, tool]));
  const unlisted = [...part.rules.keys()].filter((own) => !listed.has(own));
  return [
    ...[...listed].map(([own, tool]) => rowOf(placed, own, tool, sources)),
    ...unlisted.map((own) => ({
      ...rowOf(placed, own, undefined, sources),
      // While the tools of the server are unknown, nothing counts as missing.
      ...(listing ? { missing: true as const } : {}),
    })),
  ];
}

function rowOf(placed: PlacedPart, own: string, tool: Tool | undefined, sources: RowSources): ToolRow {
  const { part } = placed;
  const rule = part.rules.get(own);
  const hidden = hiddenBy(part, own);
  const unreachable = hidden ? undefined : sources.unreachable?.(part.server);
  const because = hidden ? whyHidden(placed, hidden, sources) : (unreachable ?? whyRenamed(placed, own));
  const shown = tool && shownTool(tool, rule);
  const row = {
    server: part.server,
    tool: own,
    name: rule?.name ?? own,
    ...(shown ? textsOf(shown) : {}),
    enabled: hidden === undefined && unreachable === undefined,
    ...(because === undefined ? {} : { because }),
  };
  return judgedRow(row, sources);
}

function textsOf({ title, description, annotations }: Tool) {
  return { ...(title === undefined ? {} : { title }), description, annotations };
}

export function whyHidden(
  { part, namespace }: PlacedPart,
  hidden: Hidden,
  { compiled }: Pick<RowSources, "compiled">,
): string {
  const here = `in namespace "${namespace.object.name}"`;
  if (typeof hidden === "object") return `the override of "${hidden.nameHeldBy}" ${here} has its name`;
  switch (hidden) {
    case "server":
      return `server "${part.name}" cannot be used: ${compiled.servers.get(part.server)?.reason ?? "it is gone"}`;
    case "namespace":
      return `server "${part.name}" is disabled ${here}`;
    case "rule":
      return `disabled ${here}`;
    case "newTools":
      return `new tools are disabled ${here}`;
  }
}

function whyRenamed({ part, namespace }: { part: NamespacePart; namespace: CompiledNamespace }, own: string) {
  const name = part.rules.get(own)?.name;
  return name === undefined || name === own ? undefined : `renamed in namespace "${namespace.object.name}"`;
}
