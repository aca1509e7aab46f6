/** The schemas of what is observed: audit records, calls, figures, sessions. */
const TEXT = { type: "string" } as const;
const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const MS = { type: "number", minimum: 0 } as const;

export const WHO = {
  type: "object",
  properties: {
    kind: TEXT,
    id: TEXT,
    name: TEXT,
    key: {
      type: "object",
      properties: { id: TEXT, name: TEXT },
      description: "the API key that an account came with",
    },
    actor: {
      type: "object",
      properties: { kind: TEXT, id: TEXT, name: TEXT },
      required: ["kind", "id", "name"],
      description: "who really acted, where somebody tried this out in the name of another",
    },
  },
  required: ["kind", "id", "name"],
} as const;

export const NAMED = {
  type: "object",
  properties: { uuid: UUID, name: TEXT },
  required: ["name"],
} as const;

export const CLIENT = {
  type: "object",
  properties: { name: TEXT, version: TEXT },
  required: ["name"],
  description: "what the client says of itself",
} as const;

const OUTCOME = { enum: ["ok", "error", "refused"] } as const;

export const CALL = {
  principal: {
    ...WHO,
    description: "who asked: an account with the key it came with, a key, or nobody known",
  },
  client: CLIENT,
  endpoint: { ...NAMED, description: "the endpoint that was asked" },
  session: { type: "string", description: "a hash of the session" },
  surface: { type: "string", description: "of the endpoint, or openapi" },
  via: { enum: ["code", "chain"], description: "where code or a chain of the caller made the call" },
  server: { ...NAMED, description: "without uuid: a tool of ours (metamcp), or a name that means nothing" },
  method: { enum: ["prompts/get", "resources/read"], description: "where it is not a tool" },
  tool: {
    type: "string",
    description: "the server's own name of it; of a prompt its name, of a resource its URI",
  },
  outcome: {
    ...OUTCOME,
    description: "ok; error: it failed, and may have had effects; refused: nothing reached the server",
  },
  code: { type: "string", description: "of the error table, where it is not ok" },
  by: { type: "string", description: "the layer that refused it, or limits" },
  durationMs: { ...MS, description: "from the request to its answer, all layers included" },
  requestBytes: { ...COUNT, description: "of the arguments" },
  resultBytes: { ...COUNT, description: "of the result" },
  attempts: { type: "integer", minimum: 2, description: "how often it was sent, where more than once" },
  cached: { const: true, description: "answered from a cache" },
  read: { type: "string", description: "server:tool that was read before, where that is why it was refused" },
  approval: {
    type: "object",
    properties: { uuid: UUID, by: WHO, waitedMs: MS },
    required: ["uuid", "by", "waitedMs"],
    description: "who said yes to it, where somebody else had to",
  },
  traceId: { type: "string", description: "of the trace it is part of" },
} as const;

/** What the audit log can be asked for: each must be equal. */
export const AUDIT_FIELDS = {
  kind: { enum: ["call", "admin", "login"], description: "call, admin (a change) or login" },
  principal: { type: "string", description: "id of who asked" },
  principalKind: { type: "string", description: "account, key, anonymous …" },
  principalName: { type: "string", description: "an e-mail address, or the name of a key" },
  key: { type: "string", description: "id of the API key that was used" },
  actor: { type: "string", description: "id of who acted in the name of the principal" },
  client: { type: "string", description: "name of the client" },
  endpoint: { type: "string", description: "uuid, or the name it had" },
  session: { type: "string", description: "hash of the session" },
  surface: { type: "string", description: "meta, metatools, aggregate, auto or openapi" },
  via: { enum: ["code", "chain"], description: "code or chain" },
  server: { type: "string", description: "uuid, or the name it had" },
  method: CALL.method,
  tool: { type: "string", description: "the server's own name of it, or its URI" },
  outcome: { ...OUTCOME, description: "ok, error or refused" },
  code: { type: "string", description: "of the error table" },
  by: { type: "string", description: "the layer that refused it" },
  attempts: { type: "integer", description: "how often it was sent, where more than once" },
  cached: { enum: ["true"], description: "true: answered from a cache" },
  read: { type: "string", description: "server:tool that was read before, where that is why it was refused" },
  approvedBy: { type: "string", description: "id of who said yes to the call" },
  traceId: { type: "string", description: "of the trace it is part of" },
  address: { type: "string", description: "of logins: where they came from" },
  action: { type: "string", description: "of changes and logins: create, update, password …" },
  object: { type: "string", description: "of changes: uuid, or the name it had" },
  objectKind: { type: "string", description: "of changes: server, namespace …" },
  revision: { type: "integer", description: "of changes: the revision they made" },
} as const;

const FIGURES = {
  calls: COUNT,
  errors: COUNT,
  refused: COUNT,
  p50Ms: MS,
  p95Ms: MS,
} as const;

const SAVED = {
  type: "integer",
  description: "what the full lists would have cost, less what was shown and searched",
} as const;

const AUDIT_STATE = {
  type: "object",
  properties: {
    queued: COUNT,
    lost: COUNT,
    fault: { type: "string", description: "why it cannot be written at the moment" },
  },
  required: ["queued", "lost"],
} as const;

export const RECENT_CALL = {
  type: "object",
  properties: {
    id: COUNT,
    at: DATE,
    ...CALL,
    layers: {
      type: "array",
      items: {
        type: "object",
        properties: { use: TEXT, ms: MS, outcome: { enum: ["passed", "refused", "answered"] } },
        required: ["use", "ms", "outcome"],
      },
      description: "the way through the pipeline, the outermost first",
    },
    arguments: { description: "as they left the pipeline; to administrators" },
  },
  required: ["id", "at", "principal", "endpoint", "server", "tool", "outcome", "durationMs", "layers"],
} as const;

export const OBSERVE_COMPONENTS = {
  AuditRecord: {
    type: "object",
    properties: {
      seq: { ...COUNT, description: "number of the record, without gaps" },
      at: { ...DATE, description: "when it ended, in UTC" },
      kind: AUDIT_FIELDS.kind,
      ...CALL,
      action: AUDIT_FIELDS.action,
      object: {
        type: "object",
        properties: { kind: TEXT, uuid: TEXT, name: TEXT },
        required: ["kind"],
        description: "of a change: what was changed",
      },
      revision: { ...COUNT, description: "of a change: the revision it made" },
      address: { type: "string", description: "of a login: where it came from" },
      arguments: { description: "names of the arguments, or as the layer audit says; to administrators" },
      results: { description: "the same of the result; to administrators" },
      hash: { type: "string", description: "over this record and the one before" },
    },
    required: ["seq", "at", "kind", "outcome", "hash"],
  },
  AuditPage: {
    type: "object",
    properties: {
      items: { type: "array", items: { $ref: "#/components/schemas/AuditRecord" } },
      nextCursor: TEXT,
      state: AUDIT_STATE,
    },
    required: ["items", "state"],
  },
  AuditVerdict: {
    type: "object",
    properties: {
      ok: { type: "boolean" },
      count: COUNT,
      seq: { type: "integer", description: "the first record that is wrong" },
      reason: TEXT,
    },
    required: ["ok"],
  },
  RecentCall: RECENT_CALL,
  Stats: {
    type: "object",
    properties: {
      per: { enum: ["minute", "hour"] },
      totals: {
        type: "object",
        properties: { ...FIGURES, tokensSaved: SAVED },
        required: ["calls", "errors", "refused", "tokensSaved"],
      },
      series: {
        type: "array",
        items: {
          type: "object",
          properties: { at: DATE, ...FIGURES, tokensSaved: SAVED },
          required: ["at", "calls", "errors", "refused", "tokensSaved"],
        },
        description: "the oldest first",
      },
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: {
            endpoint: NAMED,
            server: NAMED,
            tool: { type: "string", description: "prompts and resources of a server are counted together" },
            method: CALL.method,
            ...FIGURES,
            tokensSaved: SAVED,
            sessions: { ...COUNT, description: "of an endpoint: clients that are connected" },
            processes: { ...COUNT, description: "of a server: how often it is connected" },
          },
          required: ["calls", "errors", "refused"],
        },
        description: "the most called first",
      },
      sessions: { ...COUNT, description: "clients that are connected" },
      processes: { ...COUNT, description: "connections to servers, each instance for itself" },
      audit: AUDIT_STATE,
    },
    required: ["per", "totals", "series", "rows", "sessions", "processes", "audit"],
  },
  ClientSession: {
    type: "object",
    properties: {
      id: { type: "string", description: "a hash" },
      endpoint: NAMED,
      principal: WHO,
      client: CLIENT,
      protocolVersion: TEXT,
      since: DATE,
      lastSeen: DATE,
      calls: COUNT,
      servers: {
        type: "array",
        items: NAMED,
        description: "that it has an open connection to, its own or shared",
      },
    },
    required: ["id", "endpoint", "principal", "since", "lastSeen", "calls", "servers"],
  },
} as const;
