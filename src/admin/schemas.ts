/** The schemas of the admin API, by their names in the OpenAPI description. The same schemas validate requests. */
import { ENDPOINT, NAMESPACE, SERVER, SETTINGS } from "../gateway/schemas.ts";
import { API_KEY_COMPONENTS } from "./api-key-schemas.ts";
import { ATTENTION_COMPONENTS } from "./attention-schemas.ts";
import { EVENT_COMPONENTS } from "./event-schemas.ts";
import { MARKET_COMPONENTS } from "./market-schemas.ts";
import { OBSERVE_COMPONENTS } from "./observe-schemas.ts";
import { PEOPLE_COMPONENTS } from "./people-schemas.ts";
import { PIPELINE_COMPONENTS } from "./pipeline-schemas.ts";
import type { Schema } from "./route.ts";
import { TOOL_COMPONENTS } from "./tool-schemas.ts";
import { TRY_COMPONENTS } from "./try-schemas.ts";

const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const TEXT = { type: "string" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;

const STAMPS = {
  managedBy: { type: "string", description: '"api" or "file:NAME"' },
  revision: { type: "integer", description: "the one that last changed it" },
  createdAt: DATE,
  updatedAt: DATE,
} as const;

const CONNECTION = {
  type: "object",
  properties: {
    state: { enum: ["idle", "connecting", "active", "failed", "closed", "disabled"] },
    connected: { type: "boolean" },
    toolCount: COUNT,
    reason: TEXT,
    retryAfterMs: COUNT,
    since: {
      ...DATE,
      description: "since when, if it changed since the gateway started",
    },
    needsLogin: { const: true, description: "it is down until somebody logs in" },
    instances: { ...COUNT, description: "number of running processes, if it may have several" },
  },
  required: ["state", "connected", "toolCount"],
} as const;

const CHANGE = {
  type: "object",
  properties: {
    op: { enum: ["create", "update", "delete"] },
    kind: { enum: ["server", "namespace", "endpoint", "settings", "api-key", "user", "secret", "grant"] },
    name: TEXT,
    uuid: UUID,
    fields: { type: "array", items: TEXT, description: "for an update: the changed fields" },
  },
  required: ["op", "kind", "name"],
} as const;

/** For an update, `before` and `after` have only the changed fields. For settings they need the right to read settings. */
const CHANGE_WITH_VALUES = {
  ...CHANGE,
  properties: {
    ...CHANGE.properties,
    before: { type: "object", description: "the old value, secrets masked" },
    after: { type: "object", description: "the new value, secrets masked" },
  },
} as const;

const TOOL = {
  type: "object",
  properties: {
    server: UUID,
    tool: { type: "string", description: "the tool's name at the server" },
    name: { type: "string", description: "the tool's name here, without prefix" },
    title: TEXT,
    description: TEXT,
    annotations: { type: "object" },
    enabled: { type: "boolean" },
    missing: { const: true, description: "there is a rule for it, but the server does not list it" },
    because: { type: "string", description: "the layer or rule that hides, renames or restricts it" },
    gates: { type: "array", items: TEXT, description: "checks before a call, by layer" },
  },
  required: ["server", "tool", "name", "enabled"],
} as const;

const REVISION = {
  type: "object",
  properties: {
    n: COUNT,
    at: DATE,
    who: { type: "object", properties: { kind: TEXT, id: TEXT, name: TEXT } },
    summary: TEXT,
  },
  required: ["n", "at", "who", "summary"],
} as const;

export const APPLY = {
  type: "object",
  properties: {
    document: { type: "object", description: "as returned by GET /config" },
    prune: { type: "boolean", default: false, description: "delete objects that are not in the document" },
    source: {
      type: "string",
      pattern: "^[^\\p{Cc}\\p{Cs}/\\\\]{1,128}$",
      description: "the name of the file that manages the objects of the document",
    },
  },
  required: ["document"],
  additionalProperties: false,
} as const;

/** The schema of a returned object: the fields of the input and the stamps. */
function returnedSchema(input: Schema, more: Readonly<Record<string, Schema>> = {}): Schema {
  const properties = { uuid: UUID, ...(input["properties"] as object), ...more, ...STAMPS };
  return { type: "object", properties, required: ["uuid", ...((input["required"] as string[]) ?? [])] };
}

/** The schema of a JSON Merge Patch (RFC 7396): every field is optional, and null removes a field. */
function patchSchema(input: Schema): Schema {
  const fields = Object.entries(input["properties"] as Readonly<Record<string, Schema>>);
  const properties = fields.map(([name, schema]) => [
    name,
    { anyOf: [{ ...schema, default: undefined }, { type: "null" }] },
  ]);
  return { type: "object", properties: Object.fromEntries(properties) as object };
}

export function listOf(item: Schema): Schema {
  const properties = { items: { type: "array", items: item }, nextCursor: TEXT };
  return { type: "object", properties, required: ["items"] };
}

const CHANGES = { type: "array", items: ref("Change") } as const;

export const COMPONENTS = {
  Server: returnedSchema(SERVER, { status: ref("Connection") }),
  NewServer: SERVER,
  ServerPatch: patchSchema(SERVER),
  ServerUpdated: {
    type: "object",
    properties: {
      message: { const: "Server updated successfully" },
      server: ref("Server"),
      connection: ref("Connection"),
      namespaces: { type: "array", items: UUID },
    },
    required: ["message", "server", "connection", "namespaces"],
  },
  Connection: CONNECTION,
  StatusEntry: {
    type: "object",
    properties: {
      at: DATE,
      state: { enum: ["connecting", "started", "connected", "failed", "closed"] },
      reason: TEXT,
      pid: COUNT,
      login: { type: "boolean", description: "it failed because it requires login" },
    },
    required: ["at", "state"],
  },
  Namespace: returnedSchema(NAMESPACE),
  NewNamespace: NAMESPACE,
  NamespacePatch: patchSchema(NAMESPACE),
  Endpoint: returnedSchema(ENDPOINT),
  NewEndpoint: ENDPOINT,
  EndpointPatch: patchSchema(ENDPOINT),
  Settings: returnedSchema(SETTINGS),
  SettingsPatch: patchSchema(SETTINGS),
  Tool: TOOL,
  ToolDetail: {
    ...TOOL,
    properties: {
      ...TOOL.properties,
      bytes: COUNT,
      tokens: COUNT,
      definition: { type: "object", description: "as clients see it: inputSchema, outputSchema …" },
      own: { type: "object", description: "as its server lists it, if that differs" },
    },
    required: [...TOOL.required, "bytes", "tokens"],
  },
  Change: CHANGE,
  Changes: { type: "object", properties: { changes: CHANGES }, required: ["changes"] },
  Applied: {
    type: "object",
    properties: { revision: COUNT, changes: CHANGES },
    required: ["revision", "changes"],
  },
  Revision: REVISION,
  RevisionWithDiff: {
    ...REVISION,
    properties: { ...REVISION.properties, diff: { type: "array", items: CHANGE_WITH_VALUES } },
    required: [...REVISION.required, "diff"],
  },
  ...API_KEY_COMPONENTS,
  Apply: APPLY,
  ...PEOPLE_COMPONENTS,
  ...OBSERVE_COMPONENTS,
  ...EVENT_COMPONENTS,
  ...MARKET_COMPONENTS,
  ...ATTENTION_COMPONENTS,
  ...PIPELINE_COMPONENTS,
  ...TRY_COMPONENTS,
  ...TOOL_COMPONENTS,
} as const satisfies Readonly<Record<string, Schema>>;

export function ref(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
