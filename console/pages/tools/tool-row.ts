/** A tool with the name of its server and what each namespace makes of it. */
import type { TableTool, ToolTable } from "../../api/types.ts";

export type PlaceState = TableTool["in"][string];

export interface ToolRowIn {
  readonly tool: TableTool;
  readonly server: string;
  readonly key: string;
}

export function rowsOf({ items, servers }: ToolTable): readonly ToolRowIn[] {
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

/** It waits for an approval: until then the gateway describes it to nobody. */
export function isHeld({ in: states }: TableTool): boolean {
  return Object.values(states).includes("held");
}

/** Whether switching it in the namespace would do anything: what hides it is a rule of the namespace. */
export function isSwitchable(state: PlaceState | undefined): boolean {
  return state === "on" || state === "off" || state === "new";
}
