/** Converts events to live events: with names instead of ids, without arguments and session ids. */
import type { EngineEvent } from "../../kernel/events.ts";
import { sessionHash } from "../../kernel/session-hash.ts";
import { clientOf, whoOf } from "../call-row.ts";
import type { Names } from "../names.ts";

export const LIVE_EVENT_TYPES = [
  "call",
  "connection",
  "breaker",
  "pool",
  "session",
  "revision",
  "update",
  "tools",
  "approval",
  "admin",
  "login",
  "store",
  "audit",
  "changed",
] as const;

export interface LiveEvent {
  readonly type: (typeof LIVE_EVENT_TYPES)[number];
  readonly at: string;
  readonly [field: string]: unknown;
}

/**
 * Returns undefined for events that are not sent. Calls are converted by `call-event.ts`, because there are
 * many.
 */
export function liveEvent(event: EngineEvent, names: Names): LiveEvent | undefined {
  const at = new Date(event.at).toISOString();
  const named = (uuid: string) => ({ uuid, name: names.server(uuid) ?? uuid });
  switch (event.type) {
    case "connection": {
      // Most watchers may not read the output of servers.
      const { output: _, ...rest } = event;
      return { ...rest, at, server: named(event.server) };
    }
    case "breaker":
    case "tools":
    case "update":
      return { ...event, at, server: named(event.server) };
    case "pool":
    case "approval":
    case "revision":
    case "store":
    case "changed":
      return { ...event, at };
    case "session": {
      const { endpoint, principal, session, client, ...rest } = event;
      const about = clientOf(client);
      return {
        ...rest,
        at,
        id: sessionHash(session),
        endpoint: { uuid: endpoint, name: names.endpoint(endpoint)?.name ?? endpoint },
        principal: whoOf(principal),
        ...(about && { client: about }),
      };
    }
    case "admin": {
      const { principal, ...rest } = event;
      return { ...rest, at, principal: whoOf(principal) };
    }
    case "login": {
      const { type, outcome, by, principal } = event;
      return { type, at, outcome, by, ...(principal && { principal: whoOf(principal) }) };
    }
    case "credential":
      return { type: "login", at, outcome: "refused", by: event.by };
    case "egress":
    case "call.begun":
    case "call.ended":
    case "listed":
      return undefined;
  }
}
