/** Converts the tool mappings of a namespace to tool rules. */
import { isRecord } from "../../kernel/is-record.ts";
import type { ForeignRows, NamespaceRow, ToolMappingRow } from "./rows.ts";

type Fields = Readonly<Record<string, unknown>>;

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

interface Mapped {
  readonly mapping: ToolMappingRow;
  /** The name of the server here. */
  readonly server: string;
  readonly tool: string;
}

/** By `SERVER:TOOL`, without empty rules. */
export function toolRules(
  { uuid, name }: NamespaceRow,
  { namespace_tool_mappings, tools }: ForeignRows,
  serverNames: ReadonlyMap<string, string>,
  notes: string[],
): Fields {
  const toolNames = new Map(tools.map((tool) => [tool.uuid, tool.name]));
  const mapped = namespace_tool_mappings.flatMap((mapping): readonly Mapped[] => {
    const server = serverNames.get(mapping.mcp_server_uuid);
    const tool = toolNames.get(mapping.tool_uuid);
    return mapping.namespace_uuid === uuid && server && tool ? [{ mapping, server, tool }] : [];
  });
  const taken = new Set(
    mapped.flatMap(({ mapping, server, tool }) => (mapping.override_name ? [] : [`${server}:${tool}`])),
  );
  const rules = mapped.flatMap(({ mapping, server, tool }) => {
    const renamed = mapping.override_name || undefined;
    const why = renamed === undefined ? undefined : refusal(renamed, server, taken);
    taken.add(`${server}:${why === undefined ? (renamed ?? tool) : tool}`);
    if (why !== undefined)
      notes.push(`namespace "${name}": "${server}:${tool}" keeps its name: "${renamed}" ${why}`);
    const rule = ruleOf(mapping, why === undefined ? renamed : undefined);
    return Object.keys(rule).length > 0 ? [[`${server}:${tool}`, rule] as const] : [];
  });
  return Object.fromEntries(rules);
}

function refusal(name: string, server: string, taken: ReadonlySet<string>): string | undefined {
  if (!NAME.test(name)) return "is not a valid name here";
  return taken.has(`${server}:${name}`) ? "is the name of another tool" : undefined;
}

function ruleOf(row: ToolMappingRow, name: string | undefined): Fields {
  const annotations = annotationsOf(row.override_annotations);
  return {
    ...(row.status === "INACTIVE" ? { disabled: true } : {}),
    ...(name === undefined ? {} : { name }),
    ...(row.override_title ? { title: row.override_title } : {}),
    ...(row.override_description ? { description: row.override_description } : {}),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

/** Only the hints of the protocol. */
function annotationsOf(value: unknown): Fields {
  if (!isRecord(value)) return {};
  const hints = HINTS.flatMap((hint) => (typeof value[hint] === "boolean" ? [[hint, value[hint]]] : []));
  return {
    ...(typeof value["title"] === "string" ? { title: value["title"] } : {}),
    ...(Object.fromEntries(hints) as Fields),
  };
}
