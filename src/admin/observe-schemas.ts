/** The schemas of audit records, recent calls and statistics. */
import {
  BOOLEAN,
  COUNT,
  DATE,
  extended,
  list,
  MS,
  named,
  object,
  type Static,
  TEXT,
} from "../kernel/json-schema.ts";
import { AUDIT_STATE } from "../observe/audit/audit-log.ts";
import { CALL, OUTCOMES } from "../observe/call-schema.ts";
import { STATS, STATS_ROW } from "../observe/live/stats-answer.ts";
import { MISSING } from "./replica-schemas.ts";

/** The filters of the audit log. A record must match each of them. */
export const AUDIT_FIELDS = {
  kind: {
    enum: ["call", "begun", "admin", "login", "egress", "lost"],
    description:
      "call, begun (a call that begins, if records are required), admin (a change), login, egress (a connection of a confined server), or lost (records before it were lost)",
  },
  principal: { ...TEXT, description: "id of the caller" },
  principalKind: { ...TEXT, description: "account, key, anonymous …" },
  principalName: { ...TEXT, description: "an e-mail address, or the name of a key" },
  key: { ...TEXT, description: "id of the API key" },
  actor: { ...TEXT, description: "id of the person who acted as the principal" },
  client: { ...TEXT, description: "name of the client" },
  endpoint: { ...TEXT, description: "uuid, or its name at that time" },
  session: { ...TEXT, description: "hash of the session" },
  surface: { ...TEXT, description: "meta, metatools, aggregate, auto or openapi" },
  via: { enum: ["code", "chain"], description: "code or chain" },
  server: { ...TEXT, description: "uuid, or its name at that time" },
  method: CALL.properties.method,
  tool: { ...TEXT, description: "the tool's name at the server, or the URI" },
  outcome: { enum: OUTCOMES, description: "ok, error or refused" },
  code: { ...TEXT, description: "of the error table" },
  by: { ...TEXT, description: "the layer that refused it, or what hides the tool" },
  place: { ...TEXT, description: 'the object that has it, such as endpoint "dev"' },
  reason: { ...TEXT, description: "why it failed or was refused" },
  attempts: { type: "integer", description: "number of attempts, if more than one" },
  cached: { enum: ["true"], description: "true: answered from the cache" },
  read: {
    ...TEXT,
    description: "server:tool that was read before, if the call was refused because of it",
  },
  approvedBy: { ...TEXT, description: "id of the person who approved the call" },
  traceId: { ...TEXT, description: "id of the trace" },
  request: CALL.properties.request,
  address: { ...TEXT, description: "for logins: the network address; for egress: host and port" },
  action: { ...TEXT, description: "for changes and logins: create, update, password …" },
  object: { ...TEXT, description: "for changes: uuid, or its name at that time" },
  objectKind: { ...TEXT, description: "for changes: server, namespace …" },
  revision: { type: "integer", description: "for changes: the revision" },
} as const;

const SAID =
  "of a failed call at least {error, output}: what the server said, and what its process printed last";

/** The object of a change. */
export const CHANGED_OBJECT = object({ kind: TEXT }, { uuid: TEXT, name: TEXT });

export const AUDIT_RECORD = named("AuditRecord", {
  type: "object",
  properties: {
    seq: { ...COUNT, description: "number of the record; the numbers have no gaps" },
    at: { ...DATE, description: "when it ended, in UTC" },
    kind: AUDIT_FIELDS.kind,
    ...CALL.properties,
    action: AUDIT_FIELDS.action,
    object: { ...CHANGED_OBJECT, description: "for changes: the changed object" },
    revision: { ...COUNT, description: "for changes: the revision" },
    address: { ...TEXT, description: "for logins: the network address; for egress: host and port" },
    reason: { ...TEXT, description: "why a call failed, or why a call or login was refused" },
    tried: {
      ...object(
        {},
        {
          email: TEXT,
          subject: TEXT,
          groups: { ...COUNT, description: "how many groups the identity provider named" },
        },
      ),
      description: "for refused logins: who tried, as they or the identity provider said",
    },
    count: {
      ...COUNT,
      description: "number of equal refusals, or of lost records, that this record stands for",
    },
    since: { ...DATE, description: "with count: time of the first of the refusals" },
    various: {
      ...BOOLEAN,
      description: "with count: the refusals differ, and the other fields are those of the first",
    },
    call: { ...TEXT, description: "the same in the records of beginning and end of a call" },
    arguments: {
      description: "names of the arguments, or what the layer audit sets; only for administrators",
    },
    results: { description: `the same for the result; ${SAID}; only for administrators` },
    replica: { ...TEXT, description: "the replica that wrote it, if there may be several" },
    hash: { ...TEXT, description: "hash of this record and the one before" },
  },
  required: ["seq", "at", "kind", "outcome", "hash"],
  additionalProperties: false,
});
export type ShownRecord = Static<typeof AUDIT_RECORD>;

export const AUDIT_PAGE = named(
  "AuditPage",
  object({ items: list(AUDIT_RECORD), state: AUDIT_STATE }, { nextCursor: TEXT }),
);

export const AUDIT_VERDICT = named("AuditVerdict", {
  anyOf: [
    object(
      { ok: { const: true }, count: COUNT },
      {
        lost: {
          ...COUNT,
          description: "records that were lost before they could be written, as the log says",
        },
        unfinished: {
          ...COUNT,
          description: "calls that began and have no outcome: they still run, or the gateway ended meanwhile",
        },
      },
    ),
    object({
      ok: { const: false },
      seq: { type: "integer", description: "the first record that is wrong" },
      reason: TEXT,
    }),
  ],
});

/** A text, with the replica, where several gateways share a store. */
export const CALL_ID = { anyOf: [COUNT, TEXT], description: "the id for GET /calls/{id}" } as const;

export const RECENT_CALL = named(
  "RecentCall",
  extended(
    CALL,
    {
      id: CALL_ID,
      at: DATE,
      layers: {
        ...list(object({ use: TEXT, ms: MS, outcome: { enum: ["passed", "refused", "answered"] } })),
        description: "the layers the call passed, outermost first",
      },
    },
    {
      arguments: {
        description:
          "as they left the pipeline; of a refused call with what would be masked; only for administrators",
      },
      results: {
        description: `the result, if the layer audit keeps it; ${SAID}; only for administrators`,
      },
      replica: { ...TEXT, description: "the replica that made it, if there may be several" },
    },
  ),
);

export const SHOWN_STATS = named(
  "Stats",
  extended(
    STATS,
    {
      rows: {
        ...list(
          extended(
            STATS_ROW,
            {},
            {
              sessions: { ...COUNT, description: "for an endpoint: connected clients" },
              processes: { ...COUNT, description: "for a server: number of connections" },
            },
          ),
        ),
        description: "most called first",
      },
      sessions: { ...COUNT, description: "connected clients" },
      processes: { ...COUNT, description: "connections to servers, counting each instance" },
      audit: AUDIT_STATE,
    },
    { missing: MISSING },
  ),
);
