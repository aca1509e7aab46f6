/** Audit log, metrics and traces of a running gateway. */

import type { Engine } from "../engine/engine.ts";
import type { Compiled } from "../gateway/compile.ts";
import type { Names } from "../observe/names.ts";
import { Observer } from "../observe/observer.ts";
import type { GatewayCore } from "./gateway-core.ts";
import type { GatewayContext } from "./gateway-options.ts";

export interface Observing {
  readonly observer: Observer;
  close(): Promise<void>;
}

/** Traces are loaded only if the options name an exporter. */
export async function startObserving(context: GatewayContext, core: GatewayCore): Promise<Observing> {
  const { events, clock, log, options } = context;
  const observer = createObserver(context, core, () => tracing?.lost ?? 0);
  await observer.audit.start();
  const tracing =
    options.otel &&
    (await import("../observe/traces/tracing.ts")).startTracing(options.otel, {
      events,
      observer,
      clock,
      log,
      replica: sharedId(context),
    });
  return {
    observer,
    async close() {
      await Promise.all([observer.close(), tracing?.close()]);
    },
  };
}

/** The id of this gateway, if it shares with others. */
function sharedId({ options, replica }: GatewayContext): string | undefined {
  return options.replicaAddress === undefined ? undefined : replica;
}

function namesOf(compiled: () => Compiled, { catalog }: Pick<Engine, "catalog">): Names {
  return {
    endpoint(uuid) {
      const object = compiled().endpoints.get(uuid)?.object;
      return object && { name: object.name, surface: object.spec.surface };
    },
    namespace(endpoint = "", server) {
      const { parts = [], namespaces = [] } = compiled().endpoints.get(endpoint) ?? {};
      const placed = parts.find(({ part }) => part.server === server)?.namespace;
      const object = (placed ?? (namespaces.length === 1 ? namespaces[0] : undefined))?.object;
      return object && { uuid: object.uuid, name: object.name };
    },
    server: (uuid) => compiled().servers.get(uuid)?.object.name,
    transport(uuid) {
      const spec = compiled().servers.get(uuid)?.spec;
      return spec && (spec.kind === "stdio" ? "pipe" : "tcp");
    },
    hasTool: (server, tool) => catalog.hasTool(server, tool),
  };
}

function createObserver(
  { events, store, clock, log, options, compiled, replica, counts }: GatewayContext,
  { engine, endpoints, control }: GatewayCore,
  spansLost: () => number,
): Observer {
  const names = namesOf(compiled, engine);
  return new Observer({
    events,
    audit: store.audit,
    sums: store.sums,
    names,
    clock,
    log,
    options: options.audit,
    replica,
    shares: options.replicaAddress !== undefined,
    gauges: {
      connections: () => engine.connections(),
      sessions: () =>
        new Map(
          [...endpoints.clients].map(([uuid, clients]) => [
            names.endpoint(uuid)?.name ?? uuid,
            clients.length,
          ]),
        ),
      revision: () => control.revision,
      storeUp: () => store.state.up,
      limitsDivided: () => counts?.divided ?? false,
      spansLost,
    },
  });
}
