/** The schema of current problems that need attention. */
const TEXT = { type: "string" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;

export const ATTENTION_ITEM = {
  type: "object",
  properties: {
    kind: {
      enum: [
        "server.failed",
        "server.misconfigured",
        "server.login",
        "server.secret",
        "tools.changed",
        "endpoint.public",
        "store.away",
        "audit.fault",
        "audit.lost",
        "key.expiring",
        "approvals.waiting",
        "requests.pending",
      ],
    },
    severity: { enum: ["error", "warning", "info"] },
    object: {
      type: "object",
      properties: { kind: TEXT, uuid: TEXT, name: TEXT },
      required: ["kind", "uuid", "name"],
    },
    reason: TEXT,
    since: { ...DATE, description: "if it is known" },
    until: { ...DATE, description: "for a key: when it expires" },
    field: { type: "string", description: "for server.secret: the field that looks like a secret" },
    count: COUNT,
  },
  required: ["kind", "severity"],
} as const;

const SERVER_COUNTS = { all: COUNT, connected: COUNT, failed: COUNT, disabled: COUNT } as const;

export const ATTENTION_COMPONENTS = {
  Attention: {
    type: "object",
    properties: {
      at: DATE,
      items: { type: "array", items: ATTENTION_ITEM, description: "worst first" },
      counts: {
        type: "object",
        properties: {
          servers: {
            type: "object",
            properties: SERVER_COUNTS,
            required: ["all", "connected", "failed", "disabled"],
          },
          tools: COUNT,
          namespaces: COUNT,
          endpoints: COUNT,
          sessions: { ...COUNT, description: "connected clients" },
          keys: COUNT,
        },
        required: ["servers", "tools", "namespaces", "endpoints", "sessions", "keys"],
        description: "only for callers who may read objects",
      },
    },
    required: ["at", "items"],
  },
} as const;
