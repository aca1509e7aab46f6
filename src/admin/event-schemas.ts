/** The schemas of live events, one per event type. */
import { APPROVAL } from "../gateway/approval-control.ts";
import { STATUS_ENTRY } from "../gateway/control.ts";
import {
  BOOLEAN,
  COUNT,
  DATE,
  extended,
  list,
  MS,
  type None,
  named,
  object,
  type Properties,
  type Schema,
  TEXT,
  UUID,
} from "../kernel/json-schema.ts";
import { OBJECT_REFERENCE } from "../kernel/named-object.ts";
import { ACTOR, CALLER } from "../kernel/principal.ts";
import { CALL, CLIENT, NAMED } from "../observe/call-schema.ts";
import type { LIVE_EVENT_TYPES } from "../observe/live/live-event.ts";
import { CALL_ID, CHANGED_OBJECT } from "./observe-schemas.ts";

const REPLICA = {
  replica: { ...TEXT, description: "the replica it is about, if there may be several" },
} as const;

function event<const T extends string, const R extends Properties, const O extends Properties = None>(
  type: T,
  required: R,
  optional?: O,
) {
  return extended(object({ type: { const: type }, at: DATE }, REPLICA), required, optional);
}

const {
  at: _at,
  arguments: _arguments,
  by: _by,
  decidable: _decidable,
  via,
  decidedAt,
  decidedBy,
  comment,
  ...APPROVAL_FACTS
} = APPROVAL.properties;

const EVENTS = {
  call: extended(CALL, { type: { const: "call" }, at: DATE, id: CALL_ID }, REPLICA),
  connection: event(
    "connection",
    { server: NAMED, state: STATUS_ENTRY.properties.state },
    {
      reason: TEXT,
      pid: COUNT,
      login: STATUS_ENTRY.properties.login,
      restart: { ...BOOLEAN, description: "an earlier connection was lost" },
      durationMs: { ...MS, description: "how long it was connected, if it failed or was closed" },
    },
  ),
  breaker: event("breaker", { server: NAMED, state: { enum: ["closed", "open", "half-open"] } }),
  pool: event("pool", { waiting: COUNT }),
  session: event(
    "session",
    {
      id: { ...TEXT, description: "a hash" },
      state: { enum: ["opened", "closed"] },
      endpoint: NAMED,
      principal: CALLER,
    },
    { client: CLIENT, protocolVersion: TEXT, durationMs: MS },
  ),
  revision: event(
    "revision",
    {
      revision: COUNT,
      by: { enum: ["this", "other"], description: "other: made by another gateway on the same store" },
    },
    {
      who: ACTOR,
      summary: TEXT,
      changes: list(extended(OBJECT_REFERENCE, { op: { enum: ["create", "update", "delete"] } })),
      more: { ...COUNT, description: "number of changes that are not listed" },
    },
  ),
  update: event(
    "update",
    {
      server: NAMED,
      revision: COUNT,
      step: { enum: ["stored", "closed", "started", "connected", "failed", "compiled", "told"] },
    },
    {
      pid: COUNT,
      toolCount: COUNT,
      reason: TEXT,
      namespaces: { ...list(UUID), description: "namespaces that were compiled again" },
      clients: { ...COUNT, description: "clients that were notified of a changed list" },
    },
  ),
  tools: event("tools", { server: NAMED, toolCount: COUNT }),
  approval: event("approval", APPROVAL_FACTS, { via, decidedAt, decidedBy, comment }),
  admin: event(
    "admin",
    { principal: CALLER, action: TEXT, object: CHANGED_OBJECT, outcome: { enum: ["ok", "refused"] } },
    { revision: COUNT, request: CALL.properties.request },
  ),
  login: event("login", { by: TEXT, outcome: { enum: ["ok", "refused"] } }, { principal: CALLER }),
  store: event("store", { up: BOOLEAN }, { reason: TEXT }),
  audit: event("audit", { lost: COUNT }, { fault: TEXT }),
  changed: event("changed", { of: { enum: ["users", "api-keys", "provision-requests", "approvals"] } }),
} as const satisfies Readonly<Record<(typeof LIVE_EVENT_TYPES)[number], Schema>>;

export const LIVE_EVENT = named("Event", {
  anyOf: [
    ...Object.values(EVENTS),
    {
      ...object({ type: { const: "hello" }, version: TEXT, revision: COUNT }),
      description: "the first event",
    },
    {
      ...object({ type: { const: "missed" }, count: COUNT }),
      description: "number of events that were lost because the client read too slowly",
    },
  ],
  description: "server-sent events: event is the type, data is this object",
});
