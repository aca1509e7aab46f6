/** Turns what happens in a gateway into facts for webhooks. They name things, and have no arguments. */
import type { ExpiringKey } from "../../access/key-ring.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Events } from "../../kernel/events.ts";
import type { Fact } from "./notices.ts";

export interface FactSources {
  readonly events: Pick<Events, "on">;
  readonly clock: Clock;
  readonly serverName: (uuid: string) => string | undefined;
  readonly expiringBefore: (before: number) => readonly ExpiringKey[];
  readonly auditLost: () => number;
  /** Names this gateway where a fact is about it alone. */
  readonly replica: string;
}

const HOUR_MS = 3_600_000;
const EARLY_MS = 7 * 24 * HOUR_MS;
const LOOK_MS = 60_000;

/** Returns the function that stops it. */
export function watchFacts(sources: FactSources, tell: (fact: Fact) => void): () => void {
  const { events, clock } = sources;
  const stopEvents = events.on((event) => {
    if (event.type === "approval" && event.state === "waiting")
      tell({
        id: event.uuid,
        event: "approval.waiting",
        text: `${event.principal.name} waits for an approval to call ${event.name} at ${event.endpoint.name}`,
        path: `/requests/${event.uuid}`,
        object: { kind: "approval", uuid: event.uuid, name: event.name },
      });
    if (event.type === "connection" && event.state === "failed") {
      const { server, at, login } = event;
      const name = sources.serverName(server) ?? server;
      // Once an hour at most, however often it is tried again and by how many gateways.
      tell({
        id: `${server} ${Math.floor(at / HOUR_MS)}`,
        event: "server.failing",
        text: login ? `Server ${name} needs a login` : `Server ${name} fails`,
        path: `/servers/${server}`,
        object: { kind: "server", uuid: server, name },
      });
    }
  });
  let lost = 0;
  /** Expiring keys that were told in this hour. Telling again costs a statement, and reaches new webhooks. */
  const told = new Set<string>();
  let hour = 0;
  const look = (): void => {
    timer = clock.after(LOOK_MS, look);
    const now = Date.now();
    if (hour !== Math.floor(now / HOUR_MS)) told.clear();
    hour = Math.floor(now / HOUR_MS);
    for (const { id, name, expiresAt } of sources.expiringBefore(now + EARLY_MS)) {
      const fact = `${id} ${expiresAt}`;
      if (expiresAt <= now || told.has(fact)) continue;
      told.add(fact);
      tell({
        id: fact,
        event: "key.expiring",
        text: `The key ${name} expires at ${new Date(expiresAt).toISOString()}`,
        path: `/keys/${id}`,
        object: { kind: "api-key", uuid: id, name },
      });
    }
    const count = sources.auditLost();
    if (count > lost)
      tell({
        id: `${sources.replica} ${Math.floor(now / HOUR_MS)}`,
        event: "audit.lost",
        text: `${count} audit records were lost`,
        path: "/audit",
        object: { kind: "gateway", name: sources.replica },
      });
    lost = count;
  };
  let timer = clock.after(LOOK_MS, look);
  return () => {
    stopEvents();
    timer.cancel();
  };
}

export function serverRequested({ uuid, name }: { readonly uuid: string; readonly name: string }): Fact {
  return {
    id: uuid,
    event: "server.requested",
    text: `Somebody asks for the server ${name}`,
    path: `/requests/${uuid}?tab=servers`,
    object: { kind: "request", uuid, name },
  };
}
