/** Schemas of the table of all tools (cost, use, state per namespace), and of changed tools that need approval. */
import { TOOL_OVERRIDE } from "../gateway/schemas.ts";
import type { Schema } from "./route.ts";

const TEXT = { type: "string" } as const;
const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;

const { server: _s, tool: _t, disabled: DISABLED, ...OVERRIDE } = TOOL_OVERRIDE.properties;

const TOOL_STATE = {
  enum: ["on", "off", "new", "server", "namespace", "name", "held"],
  description:
    "on, or the reason: off (its rule), new (new tools are off), server (the server is off), namespace (the server is off in the namespace), name (another tool has its name), held (changed and not approved)",
} as const;

const CHANGED = {
  type: "object",
  properties: {
    kind: { enum: ["changed", "new", "unknown"] },
    parts: {
      type: "array",
      items: TEXT,
      description: "of its name, description and input schema, which models get",
    },
  },
  required: ["kind", "parts"],
  description: "it changed since it was approved",
} as const;

const TABLE_TOOL = {
  type: "object",
  properties: {
    server: UUID,
    tool: { type: "string", description: "the tool's name at the server" },
    title: TEXT,
    description: { type: "string", description: "its beginning" },
    annotations: TOOL_OVERRIDE.properties.annotations,
    bytes: { ...COUNT, description: "of its name, description and input schema, which models get" },
    tokens: { ...COUNT, description: "estimated, 4.4 bytes per token" },
    calls: { ...COUNT, description: "since `since`" },
    lastUsedAt: DATE,
    changed: CHANGED,
    missing: { const: true, description: "there is a rule for it, but the server does not list it" },
    in: {
      type: "object",
      additionalProperties: TOOL_STATE,
      description: "by index in `namespaces`; namespaces without its server are left out",
    },
    overrides: {
      type: "object",
      additionalProperties: { type: "object", properties: OVERRIDE },
      description: "by index in `namespaces`, if there are any",
    },
  },
  required: ["server", "tool", "bytes", "tokens", "calls", "in"],
} as const;

const TOOL_TABLE = {
  type: "object",
  properties: {
    servers: {
      type: "array",
      items: {
        type: "object",
        properties: { uuid: UUID, name: TEXT, state: TEXT },
        required: ["uuid", "name", "state"],
      },
    },
    namespaces: {
      type: "array",
      items: {
        type: "object",
        properties: { uuid: UUID, name: TEXT, newTools: { enum: ["enabled", "disabled"] }, managedBy: TEXT },
        required: ["uuid", "name", "newTools", "managedBy"],
      },
    },
    since: { ...DATE, description: "start of the count" },
    pinned: { type: "boolean", description: "tools that changed since they were approved are blocked" },
    total: { ...COUNT, description: "total number on all pages" },
    items: { type: "array", items: TABLE_TOOL },
    nextCursor: TEXT,
  },
  required: ["servers", "namespaces", "since", "pinned", "total", "items"],
} as const;

/** As in a merge patch, null removes a field. */
function nullable<S extends Schema>(schema: S) {
  return { anyOf: [schema, { type: "null" }] } as const;
}

export const SET_TOOLS = {
  type: "object",
  properties: {
    set: {
      type: "array",
      minItems: 1,
      maxItems: 20_000,
      items: {
        type: "object",
        properties: {
          server: { type: "string", minLength: 1, description: "a uuid or a name" },
          tool: TOOL_OVERRIDE.properties.tool,
          reset: { type: "boolean", description: "delete its rule first" },
          disabled: nullable(DISABLED),
          name: nullable(OVERRIDE.name),
          title: nullable(OVERRIDE.title),
          description: nullable(OVERRIDE.description),
          annotations: nullable({ type: "object" }),
          args: nullable({ type: "object" }),
        },
        required: ["server", "tool"],
        additionalProperties: false,
        description: "a merge patch for the rule of one tool",
      },
    },
  },
  required: ["set"],
  additionalProperties: false,
} as const;

export const APPROVE_CHANGES = {
  type: "object",
  properties: {
    version: { type: "string", description: "state that was reviewed" },
    tools: { type: "array", items: TEXT, minItems: 1, description: "only these tools; default: all" },
  },
  required: ["version"],
  additionalProperties: false,
} as const;

const TOOL_CHANGES = {
  type: "object",
  properties: {
    version: { type: "string", description: "send it with an approval" },
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          tool: TEXT,
          ...CHANGED.properties,
          before: { description: "the definition that was approved, if it is known" },
          after: { description: "the current definition" },
        },
        required: ["tool", "kind", "parts"],
      },
    },
    removed: { type: "array", items: TEXT, description: "approved, but no longer listed" },
    fault: { type: "string", description: "why the tools cannot be compared" },
  },
  required: ["version", "items", "removed"],
} as const;

export const TOOL_COMPONENTS = {
  ToolTable: TOOL_TABLE,
  SetTools: SET_TOOLS,
  ToolChanges: TOOL_CHANGES,
  ApproveChanges: APPROVE_CHANGES,
} as const;
