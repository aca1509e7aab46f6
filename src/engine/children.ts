/** The children of an engine, and how the catalog loads their lists. */
import { join } from "node:path";
import type { Catalog } from "../catalog/catalog.ts";
import { CatalogLoader } from "../catalog/catalog-loader.ts";
import { LazyFleet } from "../child/lazy-fleet.ts";
import { idOf } from "../config/identity.ts";
import type { Config } from "../config/spec.ts";
import type { ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import type { IdSource } from "../kernel/replica-ids.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Scope } from "../surface/scope.ts";
import { LazyConnectors } from "./connectors.ts";
import type { EngineOptions } from "./engine.ts";
import { Refresher } from "./refresh.ts";
import { statusOfAll } from "./server-status.ts";
import { Trials } from "./trial.ts";

/** What the parts of an engine share. */
export interface EngineContext {
  readonly options: EngineOptions;
  readonly home: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: Events;
  readonly ids: IdSource;
  /** The config of the moment. */
  readonly config: () => Config;
}

export interface EngineChildren extends Pick<Scope, "connect"> {
  /** `only`: of one server, because each costs something where there are many. */
  readonly servers: (asker?: Asker, only?: ServerId) => readonly ServerStatus[];
  readonly connectors: LazyConnectors;
  readonly fleet: LazyFleet;
  readonly loader: CatalogLoader;
  /** Servers that are started only to see what they offer. */
  readonly trials: Trials;
}

export function createChildren(context: EngineContext, catalog: Catalog): EngineChildren {
  const { options, home, log, clock, config, events } = context;
  const connectors = new LazyConnectors({
    home,
    log,
    clock,
    maxMessageBytes: options.maxMessageBytes,
    user: options.childUser,
    inherited: options.inherited,
    runFolder: join(home, "run"),
    onStderr: options.onStderr,
    onEgress: (spec, attempt) =>
      events.emit({ type: "egress", at: Date.now(), server: idOf(spec), ...attempt }),
    logins: options.credentials?.logins,
    loginTime: options.credentials?.now,
    placement: options.placement,
    beforeStart: options.beforeStart,
  });
  const fleet = createFleet(context, catalog, connectors);
  const loginChanged = (server: string): boolean => connectors.loginChanged(config().servers.get(server));
  const loader = new CatalogLoader({
    catalog,
    clock,
    connect: async (server, origin) => (await fleet.connect(server, origin, { list: true })).release(),
    cooldownMs: () => config().pool.cooldownMs,
    retryAtOnce: loginChanged,
    isInstalling: (server) => fleet.installing(server),
  });
  return {
    connectors,
    fleet,
    loader,
    trials: new Trials({ clock, log, connector: (spec) => connectors.for(spec) }),
    connect(server, origin) {
      const lease = fleet.connect(server, origin);
      loader.trackConnect(server, origin, lease);
      return lease;
    },
    servers: (asker, only) =>
      statusOfAll({
        statuses: fleet.status(asker, only),
        loginChanged,
        config: config(),
        fault: (server) => (asker ? catalog.view(asker).fault(server) : undefined) ?? catalog.fault(server),
      }),
  };
}

function createFleet(
  { options, log, clock, events, config }: EngineContext,
  catalog: Catalog,
  connectors: LazyConnectors,
): LazyFleet {
  const { credentials, connectors: given } = options;
  const refresher = new Refresher({ catalog, clock, log });
  return new LazyFleet(config(), {
    clock,
    log,
    events,
    credentials,
    howToLogIn: credentials?.howToLogIn,
    connector: async (spec) => given?.get(spec.name) ?? (await connectors.reaching(spec)),
    eraOf: (server) => catalog.snapshot.listings.get(server)?.about.era,
    async onHandshake(from, ...handshake) {
      await refresher.onHandshake(from, ...handshake);
      options.onConnected?.(from.server);
    },
    onListChanged: (...change) => refresher.onListChanged(...change),
  });
}
