/** Puts the big pieces together, and knows the order of starting and stopping. The only place that joins catalog and children. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ToolCache } from "./catalog/cache.ts";
import { Catalog, type CatalogServer } from "./catalog/catalog.ts";
import { CatalogLoader } from "./catalog/catalog-loader.ts";
import { PinGate } from "./catalog/pins/pin-gate.ts";
import { createSearch } from "./catalog/search/search.ts";
import { Fleet } from "./child/fleet.ts";
import type { CallerCredentials } from "./child/account-children.ts";
import { questionOf } from "./config/allowed.ts";
import { diff } from "./config/diff.ts";
import { permits } from "./config/glob.ts";
import { identityOf } from "./config/identity.ts";
import { hasLayers } from "./config/layers.ts";
import { maskFor } from "./config/secrets.ts";
import type { Config, ServerSpec } from "./config/spec.ts";
import { type ConfigLayers, layeredBy, layeredHandler } from "./config-layers.ts";
import { LazyConnectors } from "./connectors.ts";
import type { Endpoint, EndpointOptions, Engine, EngineOptions } from "./engine.ts";
import { createExamples } from "./examples.ts";
import { MetaMcpError } from "./kernel/errors.ts";
import { Events } from "./kernel/events.ts";
import { maskedLog } from "./kernel/masked-log.ts";
import { Seal } from "./kernel/seal.ts";
import { lazyProvision } from "./provisioning.ts";
import { Refresher } from "./refresh.ts";
import { LazyExecutor } from "./sandbox/choose.ts";
import { createScope } from "./scope.ts";
import { statusOfAll } from "./server-status.ts";
import { Sessions } from "./sessions.ts";
import { chooseSurface, type SurfaceName } from "./surface/choose.ts";
import { EndpointSurface } from "./surface/endpoint-surface.ts";
import { FolderConsent } from "./surface/folder-consent.ts";
import { LayeredSurface } from "./surface/layered-surface.ts";
import { ResultStore } from "./surface/result/store.ts";
import type { Scope } from "./surface/scope.ts";
import type { Surface } from "./surface/surface.ts";
import { Tasks } from "./surface/task/tasks.ts";
import { systemClock } from "./system-clock.ts";
import { NOBODY, Trials } from "./trial.ts";

export function createEngine({
  home,
  log: openLog,
  maxMessageBytes,
  notify = true,
  clock = systemClock,
  events = new Events(),
  ...options
}: EngineOptions): Engine {
  let config = options.config;
  let fault: string | undefined;
  const log = maskedLog(openLog, (server) => {
    const spec = config.servers.get(String(server));
    return spec && maskFor(spec);
  });
  const cache = new ToolCache({ home, log });
  const gate = new PinGate({
    home,
    log,
    clock,
    enforced: options.pin ?? false,
    tell: options.tell ?? true,
    keyFor: (...whose) => catalog.keyFor(...whose),
    hold: (...list) => catalog.hold(...list),
  });
  const catalog: Catalog = new Catalog({
    cache,
    search: options.search ?? createSearch(),
    clock,
    log,
    gate,
  });
  const connectors = new LazyConnectors({
    home,
    log,
    clock,
    maxMessageBytes,
    runFolder: join(home, "run"),
    onStderr: options.onStderr,
    logins: options.credentials?.logins,
  });
  const own = options.connectors;
  const { credentials } = options;

  const refresher = new Refresher({ catalog, clock, log });

  const fleet = new Fleet(config, {
    clock,
    log,
    events,
    credentials,
    howToLogIn: credentials?.howToLogIn,
    connector: async (spec) => own?.get(spec.name) ?? (await connectors.for(spec)),
    eraOf: (server) => catalog.snapshot.listings.get(server)?.about.era,
    async greet(from, ...greeting) {
      await refresher.greet(from, ...greeting);
      options.onConnected?.(from.server);
    },
    onListChanged: (...change) => refresher.onListChanged(...change),
  });

  const loginChanged = (server: string): boolean => connectors.loginChanged(config.servers.get(server));
  const loader = new CatalogLoader({
    catalog,
    clock,
    connect: async (server, origin) => (await fleet.connect(server, origin, { list: true })).release(),
    cooldownMs: () => config.pool.cooldownMs,
    forgives: loginChanged,
  });

  const connect: Scope["connect"] = (server, origin) => {
    const lease = fleet.connect(server, origin);
    loader.begun(server, origin, lease);
    return lease;
  };
  const servers: Scope["servers"] = (asker) =>
    statusOfAll({
      statuses: fleet.status(asker),
      loginChanged,
      config,
      fault: (server) => (asker ? catalog.view(asker).fault(server) : undefined) ?? catalog.fault(server),
    });
  const results = new ResultStore(clock);
  const tasks = new Tasks({
    clock,
    seal: new Seal(options.secret ?? randomBytes(32), "tasks"),
    time: () => new Date().toISOString(),
  });
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
      view: (asker) => scope.view(asker),
      loader,
      trials,
      connect,
      config: () => config,
      apply,
    });
  const view: Scope["view"] = (asker) => catalog.view(asker);
  let layers: ReturnType<ConfigLayers["around"]> | undefined;
  const plain = createScope({
    view,
    loader,
    log,
    clock,
    results,
    tasks,
    code,
    provision: provision?.provision,
    connect,
    servers,
    events,
    fleet,
    gate,
    examples,
    middleware: options.middleware ?? [],
    layered(handler) {
      layers = options.layers?.around(() => config, handler);
      return layers ? layeredHandler(layers, view) : handler;
    },
    config: () => config,
    fault: () => fault,
    credentials,
  });
  const side = layers;
  const scope = side ? layeredBy(plain, side) : plain;
  const layered = side && ((surface: Surface) => new LayeredSurface(surface, side, scope));

  const consent = options.allow && consentOf(options.allow);
  const asking = (newSurface: () => Surface, name: SurfaceName): (() => Surface) =>
    consent ? () => consent.around(newSurface(), name === "aggregate" || name === "auto") : newSurface;
  const endpoints = new Set<Sessions>();
  const open = ({
    id,
    surface,
    scope: narrowed = scope,
    team,
    around = layered,
  }: EndpointOptions): Endpoint => {
    const chosen = chooseSurface(narrowed, { surface, notify });
    const choose = around ? () => around(chosen()) : chosen;
    const sessions: Sessions = new Sessions({
      endpoint: id,
      newSurface: asking(team ? () => new EndpointSurface(choose(), team) : choose, surface),
      room: team?.room,
      clock,
      events,
      down: () =>
        narrowed
          .servers()
          .filter(({ state }) => state === "failed")
          .map(({ name, reason }) => ({ server: name, reason })),
      onEnded: (session) => fleet.sessionEnded(session),
      onLeft(session) {
        results.forget(session);
        tasks.forget(session);
        fleet.sessionEnded(session);
      },
      onClosed: () => endpoints.delete(sessions),
    });
    endpoints.add(sessions);
    return sessions;
  };
  const changed = (): void => {
    if (notify) for (const sessions of endpoints) void sessions.changed();
  };
  catalog.onChange(changed);

  function apply(next: Config): void {
    const { removed, redialed } = diff(config, next);
    for (const name of [...removed, ...redialed]) loader.forget(name);
    refuseUnlayered(next);
    config = next;
    fleet.apply(next);
    catalog.configure(catalogServers(next, credentials));
    changed();
    for (const sessions of endpoints) sessions.catchUp();
  }
  refuseUnlayered(config);
  catalog.configure(catalogServers(config, credentials));

  /** Nothing is served without what was to guard it. */
  function refuseUnlayered(given: Config): void {
    if (!layers && hasLayers(given))
      throw new Error("this config uses middleware, which is not available here");
  }

  function consentOf(allow: NonNullable<EngineOptions["allow"]>): FolderConsent {
    return new FolderConsent({
      clock,
      log,
      question: () => config.withheld && questionOf(config.withheld),
      async allow(question) {
        const { withheld } = config;
        // The file may have changed while the person was reading.
        if (withheld && questionOf(withheld) === question) apply(await allow(withheld));
      },
    });
  }

  return {
    scope,
    catalog,
    events,
    connections: () => fleet.counts(),
    heldBy: (session) => fleet.heldBy(session),
    pins: gate,
    open,
    apply,
    async stand(server, anew = false) {
      const standing = fleet.ensureConnected(server, NOBODY, anew);
      loader.begun(server, NOBODY, standing);
      await standing;
    },
    credentialsChanged(account) {
      fleet.credentialsChanged();
      loader.credentialsChanged();
      catalog.credentialsChanged();
      for (const sessions of endpoints) sessions.catchUp(account);
    },
    trial: (spec, signal) => trials.run(spec, signal),
    fault(message) {
      fault = message;
    },
    async close() {
      await Promise.all([...endpoints].map((sessions) => sessions.close()));
      tasks.close();
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

function catalogServers(
  config: Config,
  credentials: CallerCredentials | undefined,
): ReadonlyMap<string, CatalogServer> {
  const entry = (spec: ServerSpec): CatalogServer => ({
    identity: identityOf(spec),
    permits: (tool) => permits(spec.tools, tool),
    ...(spec.perAccount && {
      credentialOf(account) {
        const own = credentials?.of(spec, account);
        return own && !MetaMcpError.is(own) ? own.credential : undefined;
      },
    }),
  });
  return new Map(Array.from(config.servers, ([name, spec]) => [name, entry(spec)]));
}
