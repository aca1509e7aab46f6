/**
 * Names and codes of the stateless protocol era (2026-07-28). Only the code that speaks to clients and
 * children of this era uses them.
 */

export const ERA_2026_VERSION = "2026-07-28";

/** Members of `_meta`. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  server: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** The extension that adds tasks. */
export const TASKS = "io.modelcontextprotocol/tasks";

/** By method: the member of the params that the Mcp-Name header repeats. */
export const NAMED_BY: ReadonlyMap<string, "name" | "uri" | "taskId"> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

const ASKING: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Whether the answer to this method may be a question. */
export function mayAsk(method: string): boolean {
  return ASKING.has(method);
}

/** Methods whose results contain `ttlMs` and `cacheScope`. */
export const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "skills/list",
  "skills/get",
]);
