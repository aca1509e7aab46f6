/** What of an event is told live: names in place of ids, no arguments, no session ids. */
import type { EngineEvent } from "../../kernel/events.ts";
import { sessionHash } from "../../kernel/session-hash.ts";
import { clientOf, whoOf } from "../call-row.ts";
import type { Names } from "../names.ts";

export const TOLD_TYPES = [
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

export interface ToldEvent {
  readonly type: (typeof TOLD_TYPES)[number];
  readonly at: string;
  readonly [field: string]: unknown;
}

/** Calls are told elsewhere (`call-event.ts`): there are many. Undefined: it is not told. */
export function toldEvent(event: EngineEvent, names: Names): ToldEvent | undefined {
  const at = new Date(event.at).toISOString();
  const named = (uuid: string) => ({ uuid, name: names.server(uuid) ?? uuid });
  switch (event.type) {
    case "connection":
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
    case "call.begun":
    case "call.ended":
    case "listed":
      return undefined;
  }
}
