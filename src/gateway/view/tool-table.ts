/**
 * All tools of all servers, with their state in each namespace. Rows are small, because there may be
 * thousands.
 */
import { CHANGE_KINDS, type ToolChange } from "../../catalog/pins/change.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool, ToolAnnotations } from "../../catalog/tool.ts";
import { object, type Static, TEXTS } from "../../kernel/json-schema.ts";
import { perObject } from "../../kernel/per-object.ts";
import { asRaw } from "../../kernel/raw.ts";
import { modelBytes, toolBytes } from "../../rpc/model-bytes.ts";
import type { Compiled, CompiledNamespace } from "../compile.ts";
import type { NamespacePart } from "../part.ts";
import type { ToolOverride } from "../schemas.ts";
import { type Hidden, hiddenBy } from "./server-view.ts";
import type { ListingOf } from "./views.ts";

/** The state of a tool in a namespace: on, or the reason why not. */
export const TOOL_STATES = ["on", "off", "new", "server", "namespace", "name", "held"] as const;
export type ToolState = (typeof TOOL_STATES)[number];

export const TOOL_CHANGE = object({
  kind: { enum: CHANGE_KINDS },
  parts: { ...TEXTS, description: "of its name, description and input schema, which models get" },
});

export interface TableCell {
  readonly state: ToolState;
  /** The override without the names of server and tool. */
  readonly override?: Omit<ToolOverride, "server" | "tool" | "disabled">;
}

export interface TableRow {
  /** uuid. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly title?: string;
  /** The beginning of the description. */
  readonly description?: string;
  readonly annotations?: ToolAnnotations;
  /** The size of the definition. */
  readonly bytes: number;
  /** A rule names the tool, but the server does not list it. */
  readonly missing?: true;
  /** The change since the tool was approved. */
  readonly changed?: Static<typeof TOOL_CHANGE>;
  /** By uuid of the namespace. Namespaces without the server are left out. */
  readonly cells: ReadonlyMap<string, TableCell>;
}

const DESCRIPTION_LENGTH = 160;

export interface TableSources {
  readonly listingOf: ListingOf;
  /** The changes of a server's tools since they were approved. */
  readonly changesOf: (server: string) => readonly ToolChange[];
}

export function tableRows(
  { servers, namespaces }: Pick<Compiled, "servers" | "namespaces">,
  { listingOf, changesOf }: TableSources,
): readonly TableRow[] {
  const placed = placedParts(namespaces);
  return [...servers.keys()].flatMap((server) => {
    const listing = listingOf(server);
    const parts = placed.get(server) ?? [];
    const listed = new Set(listing?.tools.map(({ name }) => name));
    const changes = new Map(changesOf(server).map((change) => [change.tool, change]));
    // Tools that are blocked until somebody approves them are in no listing.
    const held = [...changes.values()].filter(({ tool }) => !listed.has(tool));
    const ruled = new Set(parts.flatMap(({ part }) => [...part.rules.keys()]));
    const unlisted = [...ruled].filter((tool) => !listed.has(tool) && !changes.has(tool));
    return [
      ...(listing?.tools ?? []).map((tool) => rowOf(server, tool, { parts, change: changes.get(tool.name) })),
      ...held.map((change) => heldRow(server, change, parts)),
      ...unlisted.map((tool) => ({
        server,
        tool,
        bytes: 0,
        // While the tools of the server are unknown, nothing counts as missing.
        ...(listing ? { missing: true as const } : {}),
        cells: cellsOf(tool, parts),
      })),
    ];
  });
}

interface Placed {
  readonly namespace: string;
  readonly part: NamespacePart;
}

/** By server. */
function placedParts(
  namespaces: ReadonlyMap<string, CompiledNamespace>,
): ReadonlyMap<string, readonly Placed[]> {
  const placed = new Map<string, Placed[]>();
  for (const [namespace, { parts }] of namespaces)
    for (const part of parts) {
      const list = placed.get(part.server);
      if (list) list.push({ namespace, part });
      else placed.set(part.server, [{ namespace, part }]);
    }
  return placed;
}

interface Around {
  readonly parts: readonly Placed[];
  readonly change: ToolChange | undefined;
}

function rowOf(server: string, tool: Tool, { parts, change }: Around): TableRow {
  return {
    server,
    ...aboutOf(tool),
    ...(change && { changed: briefly(change) }),
    cells: cellsOf(tool.name, parts),
  };
}

type About = Pick<TableRow, "tool" | "title" | "description" | "annotations" | "bytes">;

/** A tool stays the same object until its server lists it differently. */
const aboutOf = perObject((tool: Tool): About => {
  const { name, title, description, annotations } = tool;
  return {
    tool: name,
    ...(title === undefined ? {} : { title }),
    description: summarize(description, DESCRIPTION_LENGTH),
    annotations,
    bytes: toolBytes(tool),
  };
});

function heldRow(server: string, change: ToolChange, parts: readonly Placed[]): TableRow {
  return {
    server,
    tool: change.tool,
    bytes: change.after === "" ? 0 : modelBytes(asRaw(Buffer.from(change.after))),
    changed: briefly(change),
    cells: new Map(parts.map(({ namespace }) => [namespace, { state: "held" }])),
  };
}

function briefly({ kind, parts }: ToolChange): NonNullable<TableRow["changed"]> {
  return { kind, parts };
}

function cellsOf(tool: string, parts: readonly Placed[]): ReadonlyMap<string, TableCell> {
  return new Map(parts.map(({ namespace, part }) => [namespace, cellOf(part, tool)]));
}

function cellOf(part: NamespacePart, tool: string): TableCell {
  const state = stateOf(hiddenBy(part, tool));
  const rule = part.rules.get(tool);
  if (!rule) return { state };
  const { server: _s, tool: _t, disabled: _d, ...override } = rule;
  return Object.keys(override).length === 0 ? { state } : { state, override };
}

function stateOf(hidden: Hidden | undefined): ToolState {
  if (hidden === undefined) return "on";
  if (typeof hidden === "object") return "name";
  if (hidden === "rule") return "off";
  return hidden === "newTools" ? "new" : hidden;
}
