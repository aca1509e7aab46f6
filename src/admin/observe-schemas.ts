/** The schemas of audit records, recent calls, statistics and client sessions. */
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
      description: "the API key that the account used",
    },
    actor: {
      type: "object",
      properties: { kind: TEXT, id: TEXT, name: TEXT },
      required: ["kind", "id", "name"],
      description: "the person who really acted, if somebody tried this as another account",
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
  description: "the client's own name and version",
} as const;

const OUTCOME = { enum: ["ok", "error", "refused"] } as const;

export const CALL = {
  principal: {
    ...WHO,
    description: "the caller: an account (with its key), a key, or anonymous",
  },
  client: CLIENT,
  endpoint: { ...NAMED, description: "the endpoint" },
  session: { type: "string", description: "hash of the session id" },
  surface: { type: "string", description: "surface of the endpoint, or openapi" },
  via: { enum: ["code", "chain"], description: "code or chain, if one of them made the call" },
  server: {
    ...NAMED,
    description: "the server; without uuid it is metamcp (MetaMCP's own tools) or an unknown name",
  },
  method: {
    enum: ["prompts/get", "resources/read", "resources/subscribe", "completion/complete", "other"],
    description:
      "the method, if it is not a tool call; other: one that is not known, with its name in place of the tool",
  },
  tool: {
    type: "string",
    description: "the tool's name at the server, the name of a prompt, or the URI of a resource",
  },
  outcome: {
    ...OUTCOME,
    description: "ok; error: it failed and may have had effects; refused: it did not reach the server",
  },
  code: { type: "string", description: "error code, if the outcome is not ok" },
  by: { type: "string", description: "the layer that refused the call, or limits" },
  durationMs: { ...MS, description: "time from request to answer, including all layers" },
  requestBytes: { ...COUNT, description: "of the arguments" },
  resultBytes: { ...COUNT, description: "of the result" },
  attempts: { type: "integer", minimum: 2, description: "number of attempts, if more than one" },
  cached: { const: true, description: "answered from the cache" },
  read: {
    type: "string",
    description: "server:tool that was read before, if the call was refused because of it",
  },
  approval: {
    type: "object",
    properties: { uuid: UUID, by: WHO, waitedMs: MS },
    required: ["uuid", "by", "waitedMs"],
    description: "who approved the call, if it needed an approval",
  },
  traceId: { type: "string", description: "id of the trace" },
} as const;

/** The filters of the audit log. A record must match each of them exactly. */
export const AUDIT_FIELDS = {
  kind: {
    enum: ["call", "begun", "admin", "login", "lost"],
    description:
      "call, begun (a call that begins, if records are required), admin (a change), login, or lost (records before it were lost)",
  },
  principal: { type: "string", description: "id of the caller" },
  principalKind: { type: "string", description: "account, key, anonymous …" },
  principalName: { type: "string", description: "an e-mail address, or the name of a key" },
  key: { type: "string", description: "id of the API key" },
  actor: { type: "string", description: "id of the person who acted as the principal" },
  client: { type: "string", description: "name of the client" },
  endpoint: { type: "string", description: "uuid, or its name at that time" },
  session: { type: "string", description: "hash of the session" },
  surface: { type: "string", description: "meta, metatools, aggregate, auto or openapi" },
  via: { enum: ["code", "chain"], description: "code or chain" },
  server: { type: "string", description: "uuid, or its name at that time" },
  method: CALL.method,
  tool: { type: "string", description: "the tool's name at the server, or the URI" },
  outcome: { ...OUTCOME, description: "ok, error or refused" },
  code: { type: "string", description: "of the error table" },
  by: { type: "string", description: "the layer that refused it" },
  attempts: { type: "integer", description: "number of attempts, if more than one" },
  cached: { enum: ["true"], description: "true: answered from the cache" },
  read: {
    type: "string",
    description: "server:tool that was read before, if the call was refused because of it",
  },
  approvedBy: { type: "string", description: "id of the person who approved the call" },
  traceId: { type: "string", description: "id of the trace" },
  address: { type: "string", description: "for logins: the network address" },
  action: { type: "string", description: "for changes and logins: create, update, password …" },
  object: { type: "string", description: "for changes: uuid, or its name at that time" },
  objectKind: { type: "string", description: "for changes: server, namespace …" },
  revision: { type: "integer", description: "for changes: the revision" },
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
  description: "cost of the full lists, minus what was shown and searched",
} as const;

const AUDIT_STATE = {
  type: "object",
  properties: {
    queued: COUNT,
    lost: COUNT,
    fault: { type: "string", description: "why it cannot be written now" },
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
      description: "the layers the call passed, outermost first",
    },
    arguments: { description: "as they left the pipeline; only for administrators" },
  },
  required: ["id", "at", "principal", "endpoint", "server", "tool", "outcome", "durationMs", "layers"],
} as const;

export const OBSERVE_COMPONENTS = {
  AuditRecord: {
    type: "object",
    properties: {
      seq: { ...COUNT, description: "number of the record; the numbers have no gaps" },
      at: { ...DATE, description: "when it ended, in UTC" },
      kind: AUDIT_FIELDS.kind,
      ...CALL,
      action: AUDIT_FIELDS.action,
      object: {
        type: "object",
        properties: { kind: TEXT, uuid: TEXT, name: TEXT },
        required: ["kind"],
        description: "for changes: the changed object",
      },
      revision: { ...COUNT, description: "for changes: the revision" },
      address: { type: "string", description: "for logins: the network address" },
      reason: { type: "string", description: "for refused logins: why" },
      tried: {
        type: "object",
        properties: {
          email: TEXT,
          subject: TEXT,
          groups: { ...COUNT, description: "how many groups the identity provider named" },
        },
        description: "for refused logins: who tried, as they or the identity provider said",
      },
      count: {
        ...COUNT,
        description: "number of equal refusals, or of lost records, that this record stands for",
      },
      since: { ...DATE, description: "with count: time of the first of the refusals" },
      various: {
        type: "boolean",
        description: "with count: the refusals differ, and the other fields are those of the first",
      },
      call: { type: "string", description: "the same in the records of beginning and end of a call" },
      arguments: {
        description: "names of the arguments, or what the layer audit sets; only for administrators",
      },
      results: { description: "the same for the result; only for administrators" },
      hash: { type: "string", description: "hash of this record and the one before" },
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
      lost: { ...COUNT, description: "records that were lost before they could be written, as the log says" },
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
        description: "oldest first",
      },
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: {
            endpoint: NAMED,
            server: NAMED,
            tool: { type: "string", description: "prompts and resources of a server count as one row" },
            method: CALL.method,
            ...FIGURES,
            tokensSaved: SAVED,
            sessions: { ...COUNT, description: "for an endpoint: connected clients" },
            processes: { ...COUNT, description: "for a server: number of connections" },
          },
          required: ["calls", "errors", "refused"],
        },
        description: "most called first",
      },
      sessions: { ...COUNT, description: "connected clients" },
      processes: { ...COUNT, description: "connections to servers, counting each instance" },
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
        description: "servers it has an open connection to, its own or shared",
      },
    },
    required: ["id", "endpoint", "principal", "since", "lastSeen", "calls", "servers"],
  },
} as const;
