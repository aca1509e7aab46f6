/** The schema of current problems that need attention. */
import { COUNT, DATE, list, named, object, type Static, TEXT, TEXTS } from "../kernel/json-schema.ts";
import { OBJECT_REFERENCE } from "../kernel/named-object.ts";

const ATTENTION_ITEM = object(
  {
    kind: {
      enum: [
        "server.failed",
        "server.misconfigured",
        "server.login",
        "server.untried",
        "server.secret",
        "tools.changed",
        "tools.suspect",
        "endpoint.public",
        "store.away",
        "replicas.unshared",
        "replica.silent",
        "audit.fault",
        "audit.lost",
        "key.expiring",
        "approvals.waiting",
        "requests.pending",
      ],
    },
    severity: { enum: ["error", "warning", "info"] },
  },
  {
    object: OBJECT_REFERENCE,
    reason: TEXT,
    since: { ...DATE, description: "if it is known" },
    until: { ...DATE, description: "for a key: when it expires" },
    field: { ...TEXT, description: "for server.secret: the field that looks like a secret" },
    count: COUNT,
    replicas: { ...TEXTS, description: "ids of the replicas where this is so, if not at all" },
  },
);
export type AttentionItem = Static<typeof ATTENTION_ITEM>;

const UNTRIED = {
  ...COUNT,
  description: "failed when they were last tried, and were not tried since the gateway started",
} as const;

const COUNTS = object({
  servers: object({ all: COUNT, connected: COUNT, failed: COUNT, untried: UNTRIED, disabled: COUNT }),
  tools: COUNT,
  namespaces: COUNT,
  endpoints: COUNT,
  sessions: { ...COUNT, description: "connected clients" },
  keys: COUNT,
});
export type ObjectCounts = Static<typeof COUNTS>;

export const ATTENTION = named(
  "Attention",
  object(
    { at: DATE, items: { ...list(ATTENTION_ITEM), description: "worst first" } },
    { counts: { ...COUNTS, description: "only for callers who may read objects" } },
  ),
);
