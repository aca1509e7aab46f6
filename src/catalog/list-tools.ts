/** Reads all pages of a child's `tools/list`. */
import type { ServerId } from "../kernel/call.ts";
import { type Ask, type ListKind, listAll } from "./list-all.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

export type { Ask } from "./list-all.ts";

const TOOLS: ListKind<Tool> = { method: "tools/list", member: "tools", key: "name", read: readTool };

/** `report` is called with problems of a list that is still usable. */
export function listTools(
  server: ServerId,
  ask: Ask,
  report?: (problem: string) => void,
): Promise<readonly Tool[]> {
  return listAll(server, TOOLS, ask, report);
}
