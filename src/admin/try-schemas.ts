/** Schemas for trying an endpoint in the console: a call with its events, and the preview of what a client sees. */
import { RECENT_CALL } from "./observe-schemas.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const ARGUMENTS = { type: "object" } as const;

export const TRY = {
  type: "object",
  properties: {
    as: { type: "string", minLength: 1, description: "uuid or e-mail address of the account to try it as" },
    name: { type: "string", description: "a tool by its name at the endpoint" },
    server: { type: "string", minLength: 1, description: "the server of a tool: uuid or name" },
    tool: {
      type: "string",
      minLength: 1,
      description: "the tool of that server, by its name at this endpoint",
    },
    args: { type: "object", default: {} },
  },
  anyOf: [{ required: ["name"] }, { required: ["server", "tool"] }],
  additionalProperties: false,
  description: "an object with name, or with server and tool",
} as const;

export const TRY_ANSWER = {
  type: "object",
  properties: {
    question: { type: "string", description: "its id" },
    action: { enum: ["accept", "decline", "cancel"] },
    content: { type: "object", description: "for a form: its fields" },
    text: { type: "string", description: "for sampling: the answer of the model" },
  },
  required: ["question", "action"],
  additionalProperties: false,
} as const;

const QUESTION = {
  type: "object",
  properties: {
    id: TEXT,
    kind: { enum: ["form", "url", "sampling"] },
    params: { description: "as the server sent it: message and requestedSchema, url, or messages" },
  },
  required: ["id", "kind", "params"],
} as const;

const ENDED = {
  ms: { type: "number", minimum: 0, description: "from the beginning to the end" },
  calls: {
    type: "array",
    items: RECENT_CALL,
    description: "as in GET /calls; the tried call is the last",
  },
} as const;

const TRY_EVENT = {
  anyOf: [
    {
      type: "object",
      properties: {
        type: { const: "begun" },
        id: { type: "string", description: "id for POST /endpoints/{uuid}/try/{id}/answers" },
        request: {
          type: "object",
          properties: {
            method: { const: "tools/call" },
            params: {
              type: "object",
              properties: { name: TEXT, arguments: ARGUMENTS },
              required: ["name", "arguments"],
            },
          },
          required: ["method", "params"],
          description: "the request that a client of this endpoint would send",
        },
      },
      required: ["type", "id", "request"],
    },
    {
      type: "object",
      properties: {
        type: { const: "progress" },
        progress: { type: "number" },
        total: { type: "number" },
        message: TEXT,
      },
      required: ["type"],
    },
    {
      type: "object",
      properties: { type: { const: "log" }, level: TEXT, logger: TEXT, data: {} },
      required: ["type"],
    },
    {
      type: "object",
      properties: { type: { const: "question" }, question: QUESTION },
      required: ["type", "question"],
    },
    {
      type: "object",
      properties: { type: { const: "withdrawn" }, id: TEXT },
      required: ["type", "id"],
      description: "the question is no longer open",
    },
    {
      type: "object",
      properties: { type: { const: "missed" }, count: COUNT },
      required: ["type", "count"],
      description: "number of progress and log events that were lost because the client read too slowly",
    },
    {
      type: "object",
      properties: {
        type: { const: "result" },
        result: { type: "object", description: "the CallToolResult; isError if it failed" },
        ...ENDED,
      },
      required: ["type", "result", "ms", "calls"],
    },
    {
      type: "object",
      properties: {
        type: { const: "error" },
        error: {
          type: "object",
          properties: { code: { type: "integer" }, message: TEXT, data: {} },
          required: ["code", "message"],
          description: "of JSON-RPC",
        },
        ...ENDED,
      },
      required: ["type", "error", "ms", "calls"],
    },
  ],
  description: "server-sent events: event is the type, data is this object; result or error is the last one",
} as const;

const COST = {
  bytes: {
    ...COUNT,
    description: "of what models get: names, descriptions and input schemas of tools; instructions",
  },
  tokens: { ...COUNT, description: "estimated, 4.4 bytes per token" },
} as const;

const PREVIEW = {
  type: "object",
  properties: {
    as: {
      type: "object",
      properties: { kind: TEXT, id: TEXT, name: TEXT },
      required: ["kind", "id", "name"],
      description: "the account this is shown for",
    },
    refused: { type: "string", description: "why this account cannot use the endpoint" },
    url: { type: "string", description: "the address for clients" },
    surface: { enum: ["meta", "metatools", "aggregate"] },
    instructions: {
      type: "object",
      properties: { text: TEXT, ...COST },
      required: ["text", "bytes", "tokens"],
    },
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: { definition: { type: "object", description: "as in tools/list" }, ...COST },
        required: ["definition", "bytes", "tokens"],
      },
    },
    total: {
      type: "object",
      properties: COST,
      required: ["bytes", "tokens"],
      description: "tools and instructions",
    },
    full: {
      type: "object",
      properties: { tools: COUNT, ...COST },
      required: ["tools", "bytes", "tokens"],
      description: "cost of all reachable tools if they were listed",
    },
    prompts: COUNT,
    resources: COUNT,
    templates: COUNT,
    unknown: {
      type: "array",
      items: TEXT,
      description: "servers that never connected: their tools are not counted in full",
    },
    unavailable: {
      type: "array",
      items: {
        type: "object",
        properties: { server: TEXT, reason: TEXT },
        required: ["server", "reason"],
      },
    },
  },
  required: [
    "as",
    "url",
    "surface",
    "instructions",
    "tools",
    "total",
    "full",
    "prompts",
    "resources",
    "templates",
    "unknown",
    "unavailable",
  ],
} as const;

export const TRY_COMPONENTS = {
  Try: TRY,
  TryAnswer: TRY_ANSWER,
  TryEvent: TRY_EVENT,
  Preview: PREVIEW,
} as const;
