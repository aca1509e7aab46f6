/** Makes the row of a finished call, once for audit log, live events and metrics. */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import type { Call, Origin } from "../kernel/call.ts";
import type { CallEnded, CallFailure } from "../kernel/events.ts";
import { perObject } from "../kernel/per-object.ts";
import type { CallActor, Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { sessionHash } from "../kernel/session-hash.ts";
import { shownText } from "../kernel/shown-value.ts";
import type { CallRow, ClientName, Named } from "./call-schema.ts";
import type { Names } from "./names.ts";

/** The server name of MetaMCP's own tools. */
const OWN: Named = { name: BUILTIN_SERVER };
const LONGEST_NAME = 128;
const LONGEST_URI = 1_024;
const LONGEST_REASON = 500;

export function callRow(ended: CallEnded, names: Names): CallRow {
  const { origin, server, method, tool, outcome, code, via, trail } = ended;
  const { durationMs, requestBytes, resultBytes } = ended;
  const endpoint = names.endpoint(origin.endpoint);
  const surface = origin.surface ?? endpoint?.surface;
  const caller = callerInfo(origin);
  // Undefined members are never written. Omitting them would cost more than everything else here.
  return {
    at: ended.at,
    principal: caller.who,
    client: caller.client,
    endpoint: namedObject(origin.endpoint, endpoint?.name ?? origin.endpoint),
    session: caller.session,
    surface,
    via,
    server: serverOf(server, names),
    method,
    tool: tool.slice(0, method?.startsWith("resources/") ? LONGEST_URI : LONGEST_NAME),
    outcome,
    code,
    by: trail.by,
    place: trail.place,
    reason: ended.failure && reasonOf(ended.failure),
    asked: ended.failure?.asked?.slice(0, LONGEST_NAME),
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    requestBytes,
    resultBytes,
    attempts: trail.attempts,
    cached: trail.cached || undefined,
    read: trail.read,
    approval: trail.approval,
    traceId: trail.trace?.traceId,
    request: trail.httpRequest,
  };
}

function reasonOf({ reason }: CallFailure): string | undefined {
  return reason === undefined ? undefined : shownText(reason, LONGEST_REASON);
}

/** The members of a row that are known before the call is made. */
export function beginningOf({ origin, server, tool = "", via, trail }: Call, names: Names): object {
  const endpoint = names.endpoint(origin.endpoint);
  const caller = callerInfo(origin);
  const target = trail?.target ?? { server, tool };
  return {
    principal: caller.who,
    client: caller.client,
    endpoint: namedObject(origin.endpoint, endpoint?.name ?? origin.endpoint),
    session: caller.session,
    surface: origin.surface ?? endpoint?.surface,
    via,
    server: serverOf(target.server, names),
    tool: target.tool.slice(0, LONGEST_URI),
    request: trail?.httpRequest,
  };
}

/**
 * `error.type` of the OpenTelemetry conventions for MCP: `tool_error` if the tool reported the error,
 * otherwise our error code.
 */
export function errorType({ outcome, code }: CallRow, { result }: CallEnded): string {
  if (outcome === "ok") return "";
  return code === "execution_failed" && result ? "tool_error" : (code ?? "_OTHER");
}

export function whoOf({ kind, id, name, key, actor }: Principal): CallActor {
  const displayName = name ?? (id === "admin-token" ? "admin token" : id);
  return { kind, id, name: displayName, ...(key && { key }), ...(actor && { actor }) };
}

export function clientOf(written: Raw | undefined): ClientName | undefined {
  if (!written) return undefined;
  const { name, version } = (fromRaw(written) ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== "string" || name === "") return undefined;
  return {
    name: name.slice(0, LONGEST_NAME),
    ...(typeof version === "string" && { version: version.slice(0, LONGEST_NAME) }),
  };
}

function serverOf(server: string, names: Names): Named {
  if (server === BUILTIN_SERVER) return OWN;
  const name = names.server(server);
  return name === undefined ? { name: server.slice(0, LONGEST_NAME) } : namedObject(server, name);
}

/** Endpoints and servers by uuid. */
const namedObjects = new Map<string, Named>();
const MAX_NAMED = 5_000;

/** Returns the same object while the name is unchanged, because JSON texts are cached by object. */
function namedObject(uuid: string, name: string): Named {
  const cached = namedObjects.get(uuid);
  if (cached?.name === name) return cached;
  const created = { uuid, name };
  if (namedObjects.size >= MAX_NAMED) namedObjects.clear();
  namedObjects.set(uuid, created);
  return created;
}

interface CallerInfo {
  readonly who: CallActor;
  readonly client: ClientName | undefined;
  readonly session: string | undefined;
}

/** Kept, because a session makes many calls. */
const callerInfo = perObject(
  ({ principal, client, sessionless, session }: Origin): CallerInfo => ({
    who: whoOf(principal),
    client: clientOf(client),
    session: sessionless ? undefined : sessionHash(session),
  }),
);
