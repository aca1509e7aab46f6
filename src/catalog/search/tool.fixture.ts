/** Tools for tests of the search. */
import { toRaw } from "../../kernel/raw.ts";
import type { Tool } from "../tool.ts";

export function tool(server: string, name: string, description = "", properties: object = {}): Tool {
  return {
    server,
    name,
    title: undefined,
    description,
    annotations: {},
    definition: toRaw({ name }),
    inputSchema: toRaw({ type: "object", properties }),
  };
}
