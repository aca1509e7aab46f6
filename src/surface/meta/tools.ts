/** The definitions of the meta surface. Constant, and small: every byte is paid for in every conversation. */

const text = (description: string) => ({ type: "string", description });

export const DISCOVER = {
  name: "mcp_discover",
  title: "Find tools",
  description:
    "Find tools by what they do. No arguments: the servers. query: best tools. server: all its tools. Low confidence: probably no fit.",
  inputSchema: {
    type: "object",
    properties: {
      query: text("The task, in plain words"),
      server: text("Only this server"),
      limit: { type: "integer", minimum: 1, description: "10; at most 100" },
      cursor: text("nextCursor of the last page"),
      detail: { enum: ["schema", "types"], description: "Add schemas, or TypeScript" },
    },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const;

export const PROVISION = {
  name: "mcp_provision",
  title: "Get servers",
  description: "No tool fits? Find servers that do, and what they need. autoProvision adds a trusted one.",
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
} as const;

export const CALL = {
  name: "mcp_call",
  title: "Call a tool",
  description: "Run one tool found with mcp_discover and get its result unchanged.",
  inputSchema: {
    type: "object",
    properties: {
      server: { type: "string" },
      tool: { type: "string" },
      args: { type: "object", description: "As the tool's signature says" },
    },
    required: ["server", "tool"],
    additionalProperties: false,
  },
  annotations: { openWorldHint: true },
} as const;

export const EXECUTE = {
  name: "mcp_execute",
  title: "Run code",
  description:
    "Run JavaScript that calls many tools and returns one value: await tools.server.tool(args), Promise.all, search(query), describe('server:tool'), console.log.",
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
} as const;

const NAMES_SHOWN = 40;

/** What a model that has never seen MetaMCP must know. */
export function instructions(
  servers: readonly string[],
  { code, provision }: { readonly code: boolean; readonly provision: boolean },
): string {
  const shown = servers.slice(0, NAMES_SHOWN).join(", ");
  const more = servers.length > NAMES_SHOWN ? ` and ${servers.length - NAMES_SHOWN} more` : "";
  return [
    "MetaMCP stands in front of other MCP servers; their tools are not listed here but found and called by name.",
    '1. mcp_discover {query} finds tools for a task; the best hits carry a signature. Add detail: "schema" where it is not enough.',
    "2. mcp_call {server, tool, args} runs one. Servers start by themselves; the first call may take longer.",
    ...(code
      ? [
          '3. mcp_execute {code} runs JavaScript or TypeScript for tasks of several calls: only what it returns comes back. `await tools.github.get_issue({…})` gives a tool\'s value, `await describe("github:get_issue")` its types.',
        ]
      : []),
    ...(provision
      ? [
          "Where mcp_discover finds nothing that fits, mcp_provision {intent} looks for servers that do; with autoProvision: true it adds one that the user trusts or agrees to.",
        ]
      : []),
    "An error says what to do next; repeat a call only where it says retryable.",
    servers.length > 0 ? `Servers: ${shown}${more}.` : "No servers are configured yet.",
  ].join("\n");
}
