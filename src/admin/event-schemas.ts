/** The schemas of live events, one per event type. */
import type { LIVE_EVENT_TYPES } from "../observe/live/live-event.ts";
import { CALL, CLIENT, NAMED, WHO } from "./observe-schemas.ts";
import type { Schema } from "./route.ts";

const TEXT = { type: "string" } as const;
const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const ACTOR = {
  type: "object",
  properties: { kind: TEXT, id: TEXT, name: TEXT },
  required: ["kind", "id", "name"],
} as const;

function event<
  const T extends string,
  const P extends Readonly<Record<string, Schema>>,
  const R extends string,
>(type: T, properties: P, required: readonly R[]) {
  return {
    type: "object",
    properties: { type: { const: type }, at: DATE, ...properties },
    required: ["type", "at", ...required],
  } as const;
}

const CHANGE = {
  type: "object",
  properties: { op: { enum: ["create", "update", "delete"] }, kind: TEXT, uuid: UUID, name: TEXT },
  required: ["op", "kind", "uuid", "name"],
} as const;

const EVENTS = {
  call: event("call", { id: { ...COUNT, description: "the id for GET /calls/{id}" }, ...CALL }, [
    "id",
    "principal",
    "endpoint",
    "server",
    "tool",
    "outcome",
    "durationMs",
  ]),
  connection: event(
    "connection",
    {
      server: NAMED,
      state: { enum: ["connecting", "started", "connected", "failed", "closed"] },
      reason: TEXT,
      pid: COUNT,
      login: { type: "boolean", description: "it failed because it requires login" },
      restart: { type: "boolean" },
    },
    ["server", "state"],
  ),
  breaker: event("breaker", { server: NAMED, state: { enum: ["closed", "open", "half-open"] } }, [
    "server",
    "state",
  ]),
  pool: event("pool", { waiting: COUNT }, ["waiting"]),
  session: event(
    "session",
    {
      id: { type: "string", description: "a hash" },
      state: { enum: ["opened", "closed"] },
      endpoint: NAMED,
      principal: WHO,
      client: CLIENT,
      protocolVersion: TEXT,
      durationMs: { type: "number", minimum: 0 },
    },
    ["id", "state", "endpoint", "principal"],
  ),
  revision: event(
    "revision",
    {
      revision: COUNT,
      by: { enum: ["this", "other"], description: "other: made by another gateway on the same store" },
      who: ACTOR,
      summary: TEXT,
      changes: { type: "array", items: CHANGE },
      more: { ...COUNT, description: "number of changes that are not listed" },
    },
    ["revision", "by"],
  ),
  update: event(
    "update",
    {
      server: NAMED,
      revision: COUNT,
      step: { enum: ["stored", "closed", "started", "connected", "failed", "compiled", "told"] },
      pid: COUNT,
      toolCount: COUNT,
      reason: TEXT,
      namespaces: { type: "array", items: UUID, description: "namespaces that were compiled again" },
      clients: { ...COUNT, description: "clients that were notified of a changed list" },
    },
    ["server", "revision", "step"],
  ),
  tools: event("tools", { server: NAMED, toolCount: COUNT }, ["server", "toolCount"]),
  approval: event(
    "approval",
    {
      uuid: UUID,
      state: { enum: ["waiting", "approved", "refused", "expired", "withdrawn"] },
      name: { type: "string", description: "server:tool" },
      endpoint: NAMED,
      principal: ACTOR,
      server: NAMED,
      tool: TEXT,
      reason: TEXT,
      expiresAt: DATE,
      decidedBy: ACTOR,
    },
    ["uuid", "state", "name"],
  ),
  admin: event(
    "admin",
    {
      principal: WHO,
      action: TEXT,
      object: { type: "object", properties: { kind: TEXT, uuid: TEXT, name: TEXT }, required: ["kind"] },
      revision: COUNT,
      outcome: { enum: ["ok", "refused"] },
    },
    ["principal", "action", "object", "outcome"],
  ),
  login: event("login", { principal: WHO, by: TEXT, outcome: { enum: ["ok", "refused"] } }, [
    "by",
    "outcome",
  ]),
  store: event("store", { up: { type: "boolean" }, reason: TEXT }, ["up"]),
  audit: event("audit", { lost: COUNT, fault: TEXT }, ["lost"]),
  changed: event("changed", { of: { enum: ["users", "api-keys", "provision-requests", "approvals"] } }, [
    "of",
  ]),
} as const satisfies Readonly<Record<(typeof LIVE_EVENT_TYPES)[number], Schema>>;

const HELLO = {
  type: "object",
  properties: { type: { const: "hello" }, version: TEXT, revision: COUNT },
  required: ["type", "version", "revision"],
  description: "the first event",
} as const;

const MISSED = {
  type: "object",
  properties: { type: { const: "missed" }, count: COUNT },
  required: ["type", "count"],
  description: "number of events that were lost because the client read too slowly",
} as const;

export const EVENT_COMPONENTS = {
  Event: {
    anyOf: [...Object.values(EVENTS), HELLO, MISSED],
    description: "server-sent events: event is the type, data is this object",
  },
} as const;
