/** Puts the big pieces together, and knows the order of starting and stopping. The only place that joins catalog and children. */
import { join } from "node:path";
import { ToolCache } from "./catalog/cache.ts";
import { Catalog } from "./catalog/catalog.ts";
import { Learner } from "./catalog/learn.ts";
import { PinGate } from "./catalog/pins/pin-gate.ts";
import { createSearch } from "./catalog/search/search.ts";
import type { SearchStrategy } from "./catalog/search/strategy.ts";
import { Fleet } from "./child/fleet.ts";
import type { Connector } from "./child/link.ts";
import { diff } from "./config/diff.ts";
import { permits } from "./config/glob.ts";
import { identityOf } from "./config/identity.ts";
import type { Config } from "./config/spec.ts";
import { LazyConnectors } from "./connectors.ts";
import { createExamples } from "./examples.ts";
import type { Middleware } from "./kernel/call.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Log } from "./kernel/log.ts";
import { lazyProvision, type ProvisionOptions } from "./provisioning.ts";
import { Refresher } from "./refresh.ts";
import { type ExecutorChoice, LazyExecutor } from "./sandbox/choose.ts";
import type { Executor } from "./sandbox/executor.ts";
import { createScope } from "./scope.ts";
import { statusOfAll } from "./server-status.ts";
import { Sessions } from "./sessions.ts";
import { chooseSurface, type Surface } from "./surface/choose.ts";
import type { Face } from "./surface/face.ts";
import { ResultStore } from "./surface/result/store.ts";
import type { Scope } from "./surface/scope.ts";
import { systemClock } from "./system-clock.ts";
import type { Transport } from "./transport/transport.ts";
import { Trials } from "./trial.ts";

export interface EngineOptions {
  readonly config: Config;
  /** METAMCP_HOME: where everything of ours is kept. */
  readonly home: string;
  readonly log: Log;
  readonly maxMessageBytes: number;
  readonly surface?: Surface;
  /** Keep tools that are not as the user approved them out of use. */
  readonly pin?: boolean;
  /** The user reads the log, so that it may tell what must be told once. */
  readonly tell?: boolean;
  /** Tell clients when a list of theirs changes. */
  readonly notify?: boolean;
  readonly clock?: Clock;
  /** Where code runs; false: nowhere. */
  readonly code?: ExecutorChoice | false;
  /** Where new servers come from; without it none are to be had. */
  readonly provision?: ProvisionOptions;
  /** How tools are ranked; the built-in way unless given. */
  readonly search?: SearchStrategy;
  /** Who runs code, in place of what `code` chooses. */
  readonly executor?: Executor;
  /** By server: who reaches it, in place of what its entry says. */
  readonly connectors?: ReadonlyMap<string, Connector>;
  /** Around every call of a client, the first outermost. */
  readonly middleware?: readonly Middleware[];
}

export interface Engine {
  readonly scope: Scope;
  /** What the user approved of the tools. */
  readonly pins: Pick<PinGate, "review" | "approve" | "settled">;
  /** What a new client would see. */
  face(): Face;
  /** Takes another config; nothing that did not change is touched. */
  apply(config: Config): void;
  /** The config file cannot be used at the moment, and why; undefined once it is mended. */
  fault(message: string | undefined): void;
  /** Serves clients until nobody is left. */
  serve(transport: Transport): Promise<void>;
  /** Refuses new work, lets calls under way finish, ends all children. */
  close(): Promise<void>;
  /** Kills all children, blocking: for a process that can wait for nothing any more. */
  killNow(): void;
}

export function createEngine({
  home,
  log,
  maxMessageBytes,
  surface = "meta",
  notify = true,
  clock = systemClock,
  ...options
}: EngineOptions): Engine {
  let config = options.config;
  let fault: string | undefined;
  const cache = new ToolCache({ home, log });
  const gate = new PinGate({
    home,
    log,
    clock,
    enforced: options.pin ?? false,
    tell: options.tell ?? true,
    hold: (...list) => catalog.hold(...list),
  });
  const catalog: Catalog = new Catalog({
    cache,
    search: options.search ?? createSearch(),
    clock,
    log,
    gate,
  });
  const connectors = new LazyConnectors({ home, log, clock, maxMessageBytes, runFolder: join(home, "run") });
  const own = options.connectors;

  const refresher = new Refresher({
    catalog,
    clock,
    log,
    items: surface === "aggregate" || surface === "auto",
  });

  const fleet = new Fleet(config, {
    clock,
    log,
    connector: async (spec) => own?.get(spec.name) ?? (await connectors.for(spec)),
    eraOf: (server) => catalog.snapshot.listings.get(server)?.about.era,
    greet: (...greeting) => refresher.greet(...greeting),
    onListChanged: (...change) => refresher.onListChanged(...change),
  });

  const loginChanged = (server: string): boolean => connectors.loginChanged(config.servers.get(server));
  const learner = new Learner({
    catalog,
    clock,
    connect: async (server, origin) => (await fleet.connect(server, origin)).release(),
    cooldownMs: () => config.pool.cooldownMs,
    forgives: loginChanged,
  });

  const connect: Scope["connect"] = (server, origin) => {
    const lease = fleet.connect(server, origin);
    learner.begun(server, lease);
    return lease;
  };
  const servers = () => statusOfAll({ fleet, loginChanged, config: () => config });
  const results = new ResultStore(clock);
  const examples = createExamples({ home, log, clock, config: () => config });
  const code =
    options.executor ??
    (options.code === false ? undefined : new LazyExecutor(options.code ?? {}, { clock, log }));
  const trials = new Trials({ clock, log, connector: (spec) => connectors.for(spec) });
  const provision =
    options.provision &&
    lazyProvision(options.provision, {
      home,
      clock,
      log,
      catalog,
      learner,
      trials,
      connect,
      config: () => config,
      apply,
    });
  const scope = createScope({
    catalog,
    learner,
    log,
    clock,
    results,
    code,
    provision: provision?.provision,
    connect,
    servers,
    fleet,
    gate,
    examples,
    middleware: options.middleware ?? [],
    config: () => config,
    fault: () => fault,
  });

  const face = chooseSurface(scope, { surface, notify });
  const sessions = new Sessions({
    face,
    clock,
    down: () =>
      servers()
        .filter(({ state }) => state === "failed")
        .map(({ name, reason }) => ({ server: name, reason })),
    onEnded: (session) => fleet.sessionEnded(session),
    onLeft(session) {
      results.forget(session);
      fleet.sessionEnded(session);
    },
  });
  if (notify) catalog.onChange(() => sessions.changed());

  function apply(next: Config): void {
    const { removed, redialed } = diff(config, next);
    for (const name of [...removed, ...redialed]) learner.forget(name);
    config = next;
    fleet.apply(next);
    catalog.configure(catalogServers(next));
    if (notify) sessions.changed();
    sessions.catchUp();
  }
  catalog.configure(catalogServers(config));

  return {
    scope,
    pins: gate,
    face,
    apply,
    fault(message) {
      fault = message;
    },
    serve: (transport) => transport.serve(sessions),
    async close() {
      await sessions.drain();
      await code?.close();
      await Promise.all([fleet.destroy(), trials.destroy(), provision?.close()]);
      // Children that crashed may still have left something behind that is being ended.
      await connectors.settled();
      await gate.close();
      await cache.flush();
      await examples.flush();
    },
    killNow() {
      code?.killNow();
      connectors.killNow();
    },
  };
}

const catalogServers = (config: Config) =>
  new Map(
    [...config.servers].map(([name, spec]) => [
      name,
      { identity: identityOf(spec), permits: (tool: string) => permits(spec.tools, tool) },
    ]),
  );
