/** A tool with the name of its server, and facts derived from a tool. */
import type { TableTool, ToolTable } from "../../api/types.ts";

export type ToolState = TableTool["in"][string];

export interface ToolTableRow {
  readonly tool: TableTool;
  readonly server: string;
  readonly key: string;
}

export function rowsOf({ items, servers }: ToolTable): readonly ToolTableRow[] {
  const names = new Map(servers.map(({ uuid, name }) => [uuid, name]));
  return items.map((tool) => ({
    tool,
    server: names.get(tool.server) ?? tool.server,
    key: keyOf(tool),
  }));
}

export function keyOf({ server, tool }: Pick<TableTool, "server" | "tool">): string {
  return `${server}:${tool}`;
}

export function tierOf(annotations: TableTool["annotations"]): "readOnly" | "write" | "destructive" {
  if (annotations?.readOnlyHint) return "readOnly";
  return annotations?.destructiveHint ? "destructive" : "write";
}

/** True if the tool waits for approval. Until then the gateway does not return its definition. */
export function awaitsApproval({ in: states }: TableTool): boolean {
  return Object.values(states).includes("held");
}

/** True if only the rule of the namespace decides whether the tool is on, so that a switch has an effect. */
export function isSwitchable(state: ToolState | undefined): boolean {
  return state === "on" || state === "off" || state === "new";
}
