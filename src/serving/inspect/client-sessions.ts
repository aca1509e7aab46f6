/** Lists and ends the sessions of connected clients, for administrators. */
import type { Engine } from "../../engine/engine.ts";
import type { Clock } from "../../kernel/clock.ts";
import { sessionHash } from "../../kernel/session-hash.ts";
import { clientOf, whoOf } from "../../observe/call-row.ts";
import type { ClientSession, SessionControl } from "../../observe/live/client-session.ts";
import type { Names } from "../../observe/names.ts";
import type { ServedEndpoints } from "../site/served-endpoints.ts";

interface Parts {
  readonly engine: Pick<Engine, "heldBy">;
  readonly endpoints: Pick<ServedEndpoints, "clients" | "endSession">;
  readonly names: Names;
  readonly clock: Clock;
}

export function clientSessions({ engine, endpoints, names, clock }: Parts): SessionControl {
  const timeOf = (at: number): string => new Date(Date.now() - (clock.now() - at)).toISOString();
  return {
    list(): readonly ClientSession[] {
      return [...endpoints.clients].flatMap(([uuid, sessions]) =>
        sessions.flatMap(({ id, origin, use }): readonly ClientSession[] => {
          if (!origin) return [];
          const client = clientOf(origin.client);
          const { protocolVersion } = origin;
          return [
            {
              id: sessionHash(id),
              endpoint: { uuid, name: names.endpoint(uuid)?.name ?? uuid },
              principal: whoOf(origin.principal),
              ...(client && { client }),
              ...(protocolVersion !== undefined && { protocolVersion }),
              since: timeOf(use.since),
              lastSeen: timeOf(use.lastSeen),
              calls: use.calls,
              servers: engine
                .heldBy(id)
                .map((server) => ({ uuid: server, name: names.server(server) ?? server })),
            },
          ];
        }),
      );
    },
    counts: () => new Map([...endpoints.clients].map(([uuid, sessions]) => [uuid, sessions.length])),
    end(hash) {
      for (const [uuid, sessions] of endpoints.clients) {
        const found = sessions.find(({ id }) => sessionHash(id) === hash);
        if (found) return endpoints.endSession(uuid, found.id);
      }
      return false;
    },
  };
}
