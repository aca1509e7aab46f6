/** A call that has ended, as records, live views and counters tell it. Made once for all of them. */
import type { Origin, Trail } from "../kernel/call.ts";
import type { CallEnded, ItemMethod } from "../kernel/events.ts";
import type { Actor, Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { sessionHash } from "../kernel/session-hash.ts";
import type { Named, Names } from "./names.ts";

/** Our own tools have no server; what a caller made up is told without one. */
export const OWN_SERVER = "metamcp";
const OWN: Named = { name: OWN_SERVER };
const LONGEST_NAME = 128;
const LONGEST_URI = 1_024;

export interface CallActor {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** The API key that an account came with. */
  readonly key?: { readonly id: string; readonly name: string };
  /** Who really acted, in the name of this one. */
  readonly actor?: Actor;
}

export interface ClientName {
  readonly name: string;
  readonly version?: string;
}

export interface CallRow {
  /** Milliseconds since 1970, when it ended. */
  readonly at: number;
  readonly principal: CallActor;
  readonly client?: ClientName | undefined;
  readonly endpoint: Named;
  /** A hash. */
  readonly session?: string | undefined;
  readonly surface?: string | undefined;
  readonly via?: "code" | "chain" | undefined;
  readonly server: Named;
  /** Where it is not a tool. */
  readonly method?: ItemMethod | undefined;
  readonly tool: string;
  readonly outcome: "ok" | "error" | "refused";
  readonly code?: string | undefined;
  readonly by?: string | undefined;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly resultBytes: number;
  readonly attempts?: number | undefined;
  readonly cached?: true | undefined;
  /** What was read before, where that is why it was refused or a person was asked. */
  readonly read?: string | undefined;
  /** Who said yes to it, where somebody else had to. */
  readonly approval?: Trail["approval"] | undefined;
  readonly traceId?: string | undefined;
}

export function callRow(ended: CallEnded, names: Names): CallRow {
  const { origin, server, method, tool, outcome, code, via, trail } = ended;
  const { durationMs, requestBytes, resultBytes } = ended;
  const endpoint = names.endpoint(origin.endpoint);
  const surface = origin.surface ?? endpoint?.surface;
  const about = aboutOf(origin);
  // What is undefined is nowhere written; leaving it out would cost more than all the rest.
  return {
    at: ended.at,
    principal: about.who,
    client: about.client,
    endpoint: namedObject(origin.endpoint, endpoint?.name ?? origin.endpoint),
    session: about.session,
    surface,
    via,
    server: serverOf(server, names),
    method,
    tool: tool.slice(0, method === "resources/read" ? LONGEST_URI : LONGEST_NAME),
    outcome,
    code,
    by: trail.by,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    requestBytes,
    resultBytes,
    attempts: trail.attempts,
    cached: trail.cached || undefined,
    read: trail.read,
    approval: trail.approval,
    traceId: trail.trace?.traceId,
  };
}

/** As the conventions for MCP have it: a tool that says it failed is a `tool_error`, all else has a code of ours. */
export function errorType({ outcome, code }: CallRow, { result }: CallEnded): string {
  if (outcome === "ok") return "";
  return code === "execution_failed" && result ? "tool_error" : (code ?? "_OTHER");
}

export function whoOf({ kind, id, name, key, actor }: Principal): CallActor {
  const called = name ?? (id === "admin-token" ? "admin token" : id);
  return { kind, id, name: called, ...(key && { key }), ...(actor && { actor }) };
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
  if (server === OWN_SERVER) return OWN;
  const name = names.server(server);
  return name === undefined ? { name: server.slice(0, LONGEST_NAME) } : namedObject(server, name);
}

/** Endpoints and servers by uuid. */
const named = new Map<string, Named>();
const MOST_NAMED = 5_000;

/** The same object for all rows while it is called so: what is written of it is kept by it. */
function namedObject(uuid: string, name: string): Named {
  const known = named.get(uuid);
  if (known?.name === name) return known;
  const made = { uuid, name };
  if (named.size >= MOST_NAMED) named.clear();
  named.set(uuid, made);
  return made;
}

interface About {
  readonly who: CallActor;
  readonly client: ClientName | undefined;
  readonly session: string | undefined;
}

/** A session makes many calls. */
const known = new WeakMap<Origin, About>();

function aboutOf(origin: Origin): About {
  let about = known.get(origin);
  if (!about) {
    const { principal, client, sessionless, session } = origin;
    about = {
      who: whoOf(principal),
      client: clientOf(client),
      session: sessionless ? undefined : sessionHash(session),
    };
    known.set(origin, about);
  }
  return about;
}
