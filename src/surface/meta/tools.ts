/**
 * The tool definitions and instructions of the meta surface. They are constant and small, because they are
 * part of every conversation.
 */

import { ALWAYS_LOADED, SHOWN_WHOLE } from "../always-loaded.ts";
import type { Scope } from "../scope.ts";
import { namesIn } from "../server-names.ts";

const text = (description: string) => ({ type: "string", description });

export const DISCOVER = {
  name: "mcp_discover",
  title: "Find tools",
  description:
    "Find tools and skills by what they do. No arguments: list servers. query: best tools. server: its tools. Low confidence: probably no match.",
  inputSchema: {
    type: "object",
    properties: {
      query: text("The task, in plain words"),
      server: { type: "string" },
      limit: { type: "integer", minimum: 1, description: "10, at most 100" },
      cursor: text("nextCursor"),
      detail: { enum: ["schema", "types"], description: "Add schemas or TypeScript" },
    },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  _meta: ALWAYS_LOADED,
} as const;

export const PROVISION = {
  name: "mcp_provision",
  title: "Get servers",
  description: "No matching tool? Find servers that have one. autoProvision adds a trusted one.",
  inputSchema: {
    type: "object",
    properties: {
      intent: text("The task"),
      context: { type: "string" },
      autoProvision: { type: "boolean" },
    },
    required: ["intent"],
    additionalProperties: false,
  },
  annotations: { openWorldHint: true },
  _meta: ALWAYS_LOADED,
} as const;

export const CALL = {
  name: "mcp_call",
  title: "Call a tool",
  description:
    "Run one tool and return its result unchanged. Server metamcp has read, resources, prompts, prompt.",
  inputSchema: {
    type: "object",
    properties: {
      server: { type: "string" },
      tool: { type: "string" },
      args: { type: "object", description: "As in the tool's signature" },
    },
    required: ["server", "tool"],
    additionalProperties: false,
  },
  annotations: { openWorldHint: true },
  execution: { taskSupport: "optional" },
  _meta: SHOWN_WHOLE,
} as const;

export const EXECUTE = {
  name: "mcp_execute",
  title: "Run code",
  description:
    "Run JavaScript that calls many tools and returns one value: await tools.server.tool(args), Promise.all, search(query), describe('server:tool'), read(uri).",
  inputSchema: {
    type: "object",
    properties: {
      code: text("Top-level await and return"),
      timeoutMs: { type: "integer", minimum: 1, description: "30000" },
    },
    required: ["code"],
    additionalProperties: false,
  },
  annotations: { openWorldHint: true },
  _meta: ALWAYS_LOADED,
} as const;

/** In the order in which they are listed. */
export const META_TOOL_DEFINITIONS = [DISCOVER, PROVISION, CALL, EXECUTE];

export const META_TOOLS: readonly string[] = META_TOOL_DEFINITIONS.map(({ name }) => name);

/** Whether the scope supports this tool. */
export function isOffered(
  tool: { readonly name: string },
  scope: Pick<Scope, "provision" | "code">,
): boolean {
  if (tool === PROVISION) return scope.provision !== undefined;
  return tool !== EXECUTE || scope.code !== undefined;
}

export function isMetaTool(name: unknown): boolean {
  return (META_TOOLS as readonly unknown[]).includes(name);
}

/** What a model needs to know to use these tools. The length does not grow with the number of servers. */
export function instructions(
  servers: readonly string[],
  { code, provision, read }: { readonly code: boolean; readonly provision: boolean; readonly read: boolean },
): string {
  return [
    "Gateway to other MCP servers: find tools with mcp_discover {query}, run them with mcp_call {server, tool, args}. Servers start automatically.",
    ...(code ? ["mcp_execute {code} makes several calls at once and shows only what the code returns."] : []),
    ...(provision ? ["If no tool matches, mcp_provision {intent} finds servers that have one."] : []),
    ...(read
      ? ['mcp_call {server: "metamcp", tool: "read", args: {uri}} reads stored results and linked resources.']
      : []),
    "Errors say what to do next and whether to retry.",
    namesIn(servers),
  ].join("\n");
}
