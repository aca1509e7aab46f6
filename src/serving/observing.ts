/** What watches a running gateway, and what it asks of it. */

import type { Engine } from "../engine.ts";
import type { Compiled } from "../gateway/compile.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { AuditOptions } from "../observe/audit/audit-log.ts";
import type { Names } from "../observe/names.ts";
import { Observer } from "../observe/observer.ts";
import type { Store } from "../store/store.ts";
import type { ServedEndpoints } from "./served-endpoints.ts";

export interface ObservingParts {
  readonly engine: Pick<Engine, "events" | "catalog" | "connections">;
  readonly endpoints: Pick<ServedEndpoints, "clients">;
  readonly compiled: () => Compiled;
  readonly revision: () => number;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: AuditOptions;
  readonly spansLost: () => number;
}

export function namesOf(compiled: () => Compiled, { catalog }: Pick<Engine, "catalog">): Names {
  return {
    endpoint(uuid) {
      const object = compiled().endpoints.get(uuid)?.object;
      return object && { name: object.name, surface: object.spec.surface };
    },
    server: (uuid) => compiled().servers.get(uuid)?.object.name,
    transport(uuid) {
      const spec = compiled().servers.get(uuid)?.spec;
      return spec && (spec.kind === "stdio" ? "pipe" : "tcp");
    },
    hasTool: (server, tool) => catalog.hasTool(server, tool),
  };
}

export function createObserver(parts: ObservingParts): Observer {
  const { engine, endpoints, compiled, revision, store, clock, log, options, spansLost } = parts;
  const names = namesOf(compiled, engine);
  return new Observer({
    events: engine.events,
    audit: store.audit,
    names,
    clock,
    log,
    options,
    gauges: {
      connections: () => engine.connections(),
      sessions: () =>
        new Map(
          [...endpoints.clients].map(([uuid, clients]) => [
            names.endpoint(uuid)?.name ?? uuid,
            clients.length,
          ]),
        ),
      revision,
      storeUp: () => store.state.up,
      spansLost,
    },
  });
}
