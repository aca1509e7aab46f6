/** Tools and listings of servers, for tests. */
import type { Listing } from "../catalog/catalog.ts";
import { readTool } from "../catalog/read-tool.ts";
import type { Tool } from "../catalog/tool.ts";
import { toRaw } from "../kernel/raw.ts";

export function toolOf(server: string, name: string, more: object = {}): Tool {
  const definition = {
    name,
    description: `does ${name}`,
    inputSchema: { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a", "b"] },
    ...more,
  };
  const tool = readTool(server, toRaw(definition));
  if (!tool) throw new Error("That is no tool.");
  return tool;
}

export function listingOfTools(server: string, names: readonly string[]): Listing {
  return { tools: names.map((name) => toolOf(server, name)), source: "live", about: {} };
}
