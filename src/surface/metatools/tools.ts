/**
 * The tool definitions and instructions of the metatools surface, with output schemas that include errors.
 */

import { ALWAYS_LOADED, SHOWN_WHOLE } from "../always-loaded.ts";
import { namesIn } from "../server-names.ts";

const text = (description: string) => ({ type: "string", description }) as const;
const flag = (description: string) => ({ type: "boolean", description }) as const;
const count = (description: string, minimum = 1) => ({ type: "integer", minimum, description }) as const;

const STRING = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
const OBJECT = { type: "object" } as const;
const STRINGS = { type: "array", items: STRING } as const;

/** An array of objects; without `required` they have all members. */
function listOf<const P extends Readonly<Record<string, object>>>(
  properties: P,
  required: readonly string[] = Object.keys(properties),
) {
  return {
    type: "array",
    items: { type: "object", properties, required, additionalProperties: false },
  } as const;
}

const ERROR = {
  type: "object",
  properties: { code: STRING, message: STRING, retryable: { type: "boolean" } },
  required: ["code", "message", "retryable"],
} as const;

const UNAVAILABLE = listOf({ server: STRING, reason: STRING, retryAfterMs: NUMBER }, ["server", "reason"]);

const TOOLS = listOf({
  id: STRING,
  name: STRING,
  namespace: STRING,
  shortDescription: STRING,
  tags: STRINGS,
});

const SKILLS = listOf({ name: STRING, namespace: STRING, shortDescription: STRING, uri: STRING });

const EXAMPLES = listOf({ id: STRING, title: STRING, description: STRING, args: OBJECT, resultHint: STRING });

/** An output schema that requires either the given members or `error`. */
function output<const P extends Readonly<Record<string, object>>>(
  properties: P,
  required: readonly (keyof P & string)[],
) {
  return {
    type: "object",
    properties: { ...properties, error: ERROR },
    anyOf: [{ required }, { required: ["error"] }],
    additionalProperties: false,
  } as const;
}

function input<const P extends Readonly<Record<string, object>>>(
  properties: P,
  required: readonly (keyof P & string)[] = [],
) {
  return { type: "object", properties, required, additionalProperties: false } as const;
}

const LIMIT = count("20, at most 100");
const CURSOR = text("nextCursor of the previous page");
const TOOL_ID = text("server:tool");
const READS = { readOnlyHint: true, openWorldHint: false } as const;
const ACTS = { openWorldHint: true } as const;

const PAGE = {
  tools: TOOLS,
  nextCursor: STRING,
  truncated: { type: "boolean" },
  unavailable: UNAVAILABLE,
} as const;
const toolPage = output(PAGE, ["tools", "unavailable"]);
const foundPage = output({ ...PAGE, skills: SKILLS }, ["tools", "unavailable"]);

export const SEARCH_TOOLS = {
  name: "search_tools",
  title: "Search tools",
  description: "Find tools and skills by what they do, best first.",
  inputSchema: input({ query: text("The task, in plain words"), limit: LIMIT, cursor: CURSOR }, ["query"]),
  outputSchema: foundPage,
  annotations: READS,
  _meta: ALWAYS_LOADED,
} as const;

export const LIST_TOOLS = {
  name: "list_tools",
  title: "List tools",
  description: "List all tools, or those of one namespace.",
  inputSchema: input({ limit: LIMIT, cursor: CURSOR, namespace: text("Only this server") }),
  outputSchema: toolPage,
  annotations: READS,
  _meta: ALWAYS_LOADED,
} as const;

export const LIST_NAMESPACES = {
  name: "list_namespaces",
  title: "List namespaces",
  description: "List the servers whose tools can be used.",
  inputSchema: input({ limit: LIMIT, cursor: CURSOR }),
  outputSchema: output({ namespaces: STRINGS, nextCursor: STRING, unavailable: UNAVAILABLE }, [
    "namespaces",
    "unavailable",
  ]),
  annotations: READS,
  _meta: ALWAYS_LOADED,
} as const;

export const DESCRIBE_TOOL = {
  name: "describe_tool",
  title: "Describe a tool",
  description:
    "Show what a tool does and its arguments. summary: one sentence; schema: also its definition; full: also notes and examples. tokens: cost of each level.",
  inputSchema: input(
    {
      tool_id: TOOL_ID,
      detail_level: { enum: ["summary", "schema", "full"] },
      examples_max: count("At most 5", 0),
    },
    ["tool_id", "detail_level"],
  ),
  outputSchema: output(
    {
      summary: STRING,
      tool: OBJECT,
      schemaInfo: {
        type: "object",
        properties: {
          required: STRINGS,
          defaults: OBJECT,
          types: { type: "object", additionalProperties: STRING },
        },
        required: ["required", "defaults", "types"],
        additionalProperties: false,
      },
      notes: STRING,
      examples: EXAMPLES,
      externalRefs: STRINGS,
      tokens: {
        type: "object",
        properties: { summary: NUMBER, schema: NUMBER, full: NUMBER },
        required: ["summary", "schema", "full"],
        additionalProperties: false,
      },
    },
    ["summary", "tokens"],
  ),
  annotations: READS,
  _meta: ALWAYS_LOADED,
} as const;

export const LIST_TOOL_EXAMPLES = {
  name: "list_tool_examples",
  title: "Examples of a tool",
  description: "Show example arguments of a tool.",
  inputSchema: input({ tool_id: TOOL_ID, max: count("At most 5", 0) }, ["tool_id"]),
  outputSchema: output({ examples: EXAMPLES }, ["examples"]),
  annotations: READS,
  _meta: ALWAYS_LOADED,
} as const;

export const RUN_TOOL = {
  name: "run_tool",
  title: "Run a tool",
  description: "Run one tool. structured is its value; images are in content.",
  inputSchema: input(
    {
      tool_id: TOOL_ID,
      args: OBJECT,
      stream: flag("Not supported"),
      include_tool: flag("Add its definition"),
      include_backend: flag("Add the server that ran it"),
      include_mcp_result: flag("Add the original result"),
      backend_override: { description: "Not supported" },
    },
    ["tool_id"],
  ),
  outputSchema: output(
    { structured: {}, tool: OBJECT, backend: OBJECT, mcpResult: OBJECT, durationMs: NUMBER },
    ["structured", "durationMs"],
  ),
  annotations: ACTS,
  _meta: SHOWN_WHOLE,
} as const;

export const EXECUTE_CODE = {
  name: "execute_code",
  title: "Run code",
  description:
    "Run code that calls many tools and returns one value: await tools.server.tool(args), search(query), describe('server:tool'), read(uri), console.log. Top-level await and return.",
  inputSchema: input(
    {
      language: { enum: ["javascript", "typescript"] },
      code: STRING,
      timeout_ms: count("30000"),
      max_tool_calls: count("100", 0),
    },
    ["language", "code"],
  ),
  outputSchema: output(
    {
      value: {},
      stdout: STRING,
      stderr: STRING,
      durationMs: NUMBER,
      unsafe: { type: "boolean" },
      calls: {
        type: "array",
        items: {
          type: "object",
          properties: { server: STRING, tool: STRING, ms: NUMBER, count: NUMBER, error: STRING },
          required: ["server", "tool", "ms"],
          additionalProperties: false,
        },
      },
    },
    ["stdout", "stderr", "durationMs", "calls"],
  ),
  annotations: ACTS,
  _meta: ALWAYS_LOADED,
} as const;

export const STEP = input(
  {
    tool_id: TOOL_ID,
    args: {
      type: "object",
      description:
        '{"$from": "steps/0/structured/items/1/id"} anywhere in it is replaced by that value of an earlier step',
    },
    use_previous: flag("Set args.previous to the value of the previous step"),
    timeout_ms: count("Time limit of this step"),
  },
  ["tool_id"],
);

export const MAX_STEPS = 32;

export const RUN_CHAIN = {
  name: "run_chain",
  title: "Run tools in a chain",
  description: "Run up to 32 tools in one request; each can use values of earlier ones.",
  inputSchema: input(
    {
      steps: { type: "array", items: STEP, minItems: 1, maxItems: MAX_STEPS },
      on_error: { enum: ["stop", "continue"], description: "stop" },
      parallel: flag("Run independent steps at the same time"),
      dry_run: flag("Only check the steps against the schemas"),
      include_backends: flag("Add the servers that ran them"),
      include_tools: flag("Add their definitions"),
    },
    ["steps"],
  ),
  outputSchema: output(
    {
      results: {
        type: "array",
        items: {
          type: "object",
          properties: {
            tool_id: STRING,
            structured: {},
            error: ERROR,
            durationMs: NUMBER,
            tool: OBJECT,
            backend: OBJECT,
          },
          required: ["tool_id", "durationMs"],
          additionalProperties: false,
        },
      },
      final: {},
    },
    ["results"],
  ),
  annotations: ACTS,
  _meta: ALWAYS_LOADED,
} as const;

export const METATOOL_NAMES: readonly string[] = [
  SEARCH_TOOLS,
  LIST_TOOLS,
  LIST_NAMESPACES,
  DESCRIBE_TOOL,
  LIST_TOOL_EXAMPLES,
  RUN_TOOL,
  RUN_CHAIN,
  EXECUTE_CODE,
].map(({ name }) => name);

/** What a model needs to know to use these tools. The length does not grow with the number of servers. */
export function instructions(
  servers: readonly string[],
  { code, chain, own }: { readonly code: boolean; readonly chain: boolean; readonly own: readonly string[] },
): string {
  return [
    "Gateway to other MCP servers: find tools with search_tools {query}, see the arguments with describe_tool, run it with run_tool {tool_id, args}. Servers start automatically.",
    ...(chain ? ["run_chain {steps} runs several tools; each can use values of earlier ones."] : []),
    ...(code ? ["execute_code {language, code} runs code that calls tools and returns one value."] : []),
    ...(own.length > 0 ? [`Tools of the namespace metamcp: ${builtinToolsText(own)}.`] : []),
    "unavailable lists the servers that are down and why. Errors say what to do next and whether to retry.",
    namesIn(servers),
  ].join("\n");
}

function builtinToolsText(own: readonly string[]): string {
  const reading = own.includes("read") ? ["read {uri} for stored results, skills and linked resources"] : [];
  const items = own
    .filter((name) => name !== "read")
    .join(", ")
    .replace(/, (?=[^,]*$)/, " and ");
  return [...reading, ...(items === "" ? [] : [`${items} of a server`])].join("; ");
}
