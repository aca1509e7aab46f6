/**
 * Builds the engine from catalog, children, scope and endpoints. The order of applying a config and of
 * stopping is here.
 */
import { randomBytes } from "node:crypto";
import { ToolCache } from "../catalog/cache.ts";
import { Catalog, type CatalogServer } from "../catalog/catalog.ts";
import type { ListStorage } from "../catalog/list-storage.ts";
import { PinGate } from "../catalog/pins/pin-gate.ts";
import { LazySearch } from "../catalog/search/lazy-search.ts";
import type { CallerCredentials } from "../child/unused-status.ts";
import { questionOf } from "../config/allowed.ts";
import { diff } from "../config/diff.ts";
import { permits } from "../config/glob.ts";
import { identityOf } from "../config/identity.ts";
import { hasLayers } from "../config/layers.ts";
import { maskFor } from "../config/secrets.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import { compose } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { Events } from "../kernel/events.ts";
import { maskedLog } from "../kernel/masked-log.ts";
import { type IdSource, ReplicaIds, TASK_IDS } from "../kernel/replica-ids.ts";
import { LazyExecutor } from "../sandbox/choose.ts";
import { Cursors } from "../surface/cursor.ts";
import { FolderConsent } from "../surface/folder-consent.ts";
import type { SurfaceLayers } from "../surface/layered-requests.ts";
import { ResultStore } from "../surface/result/store.ts";
import type { Scope } from "../surface/scope.ts";
import { Tasks } from "../surface/task/tasks.ts";
import { createChildren, type EngineChildren, type EngineContext } from "./children.ts";
import { layeredBy, layeredHandler } from "./config-layers.ts";
import { EngineEndpoints } from "./endpoints.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import { createExamples, type Examples } from "./examples.ts";
import { lazyProvision, type Provision } from "./provisioning.ts";
import { createScope } from "./scope.ts";
import { serverCalls } from "./server-calls.ts";
import { systemClock } from "./system-clock.ts";
import { NO_CLIENT } from "./trial.ts";

export function createEngine(options: EngineOptions): Engine {
  const { home, notify = true, clock = systemClock, events = new Events(), credentials, drainMs } = options;
  let config = options.config;
  let fault: string | undefined;
  const log = maskedLog(options.log, (server) => {
    const spec = config.servers.get(String(server));
    return spec && maskFor(spec);
  });
  const { replica, peers } = options;
  let secret = options.secret;
  const ids: IdSource = {
    // Made at its first use: `node:crypto` takes a tenth of the time of a start to load.
    get secret() {
      secret ??= randomBytes(32);
      return secret;
    },
    replica,
    peers,
  };
  const context: EngineContext = { options, home, log, clock, events, ids, config: () => config };

  const { cache, gate, catalog } = createCatalog(context);
  const children = createChildren(context, catalog);
  const { fleet, loader, connectors, trials } = children;
  const examples = createExamples({ home, log, clock, config: context.config });
  const code = executorOf(context);
  const provision =
    options.provision &&
    lazyProvision(options.provision, {
      ...context,
      ...children,
      view: (asker) => scope.view(asker),
      apply,
    });
  const { scope, layers } = createLayeredScope(context, {
    catalog,
    children,
    gate,
    examples,
    code,
    provision,
    fault: () => fault,
  });
  const consent = options.allow && createConsent(context, options.allow, apply);
  const endpoints = new EngineEndpoints({
    scope,
    layers,
    consent,
    fleet,
    clock,
    ids,
    events,
    notify,
    drainMs,
  });
  catalog.onChange(() => endpoints.changed());
  refuseWithoutLayers(config);
  catalog.configure(catalogServers(config, credentials));

  /** Servers that did not change are not touched. */
  function apply(next: Config): void {
    const { removed, redialed } = diff(config, next);
    for (const name of [...removed, ...redialed]) loader.forget(name);
    refuseWithoutLayers(next);
    config = next;
    fleet.apply(next);
    catalog.configure(catalogServers(next, credentials));
    endpoints.changed();
    endpoints.loadMissingLists();
  }

  /** A config whose layers cannot run must not be served: its rules would be missing. */
  function refuseWithoutLayers(given: Config): void {
    if (!layers && hasLayers(given))
      throw new Error("this config uses middleware, which is not available here");
  }

  return {
    scope,
    catalog,
    events,
    fleet,
    connections: () => fleet.counts(),
    heldBy: (session) => fleet.heldBy(session),
    pins: gate,
    open: (endpoint) => endpoints.open(endpoint),
    apply,
    async ensureConnected(server, anew = false) {
      const connected = fleet.ensureConnected(server, NO_CLIENT, anew);
      loader.trackConnect(server, NO_CLIENT, connected);
      await connected;
    },
    credentialsChanged(account) {
      fleet.credentialsChanged();
      loader.credentialsChanged();
      catalog.credentialsChanged();
      endpoints.loadMissingLists(account);
    },
    trial: (spec, signal) => trials.run(spec, signal),
    fault(message) {
      fault = message;
    },
    async close(withinMs) {
      await endpoints.close(withinMs);
      scope.tasks.close();
      await code?.close();
      await Promise.all([fleet.destroy(), trials.destroy(), provision?.close()]);
      // Waits until the processes that crashed children left behind have ended.
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

interface CatalogParts {
  readonly cache: ListStorage;
  readonly gate: PinGate;
  readonly catalog: Catalog;
}

function createCatalog({ options, home, log, clock }: EngineContext): CatalogParts {
  const cache = options.listStorage ?? new ToolCache({ home, log });
  const gate = new PinGate({
    home,
    log,
    clock,
    storage: options.pinStorage,
    enforced: options.pin ?? false,
    userReadsLog: options.userReadsLog ?? true,
    keyFor: (...whose) => catalog.keyFor(...whose),
    snapshot: () => catalog.snapshot,
    lists: () => namedLists(catalog, options),
    setBlocked: (...list) => catalog.setBlocked(...list),
  });
  const search = options.search ?? new LazySearch({ home, clock, log });
  const catalog: Catalog = new Catalog({ cache, search, clock, log, gate });
  return { cache, gate, catalog };
}

function namedLists({ snapshot }: Catalog, { nameOf = (server) => server }: EngineOptions) {
  return Array.from(snapshot.listings, ([server, { tools }]) => ({ server, name: nameOf(server), tools }));
}

function executorOf({ options, clock, log }: EngineContext) {
  if (options.executor) return options.executor;
  const { code = {}, childUser: user } = options;
  return code === false ? undefined : new LazyExecutor(code, { clock, log, user });
}

interface ScopeSources {
  readonly catalog: Catalog;
  readonly children: EngineChildren;
  readonly gate: PinGate;
  readonly examples: Examples;
  readonly code: Scope["code"];
  readonly provision: Provision | undefined;
  readonly fault: () => string | undefined;
}

interface LayeredScope {
  readonly scope: Scope;
  /** The layers of the config; undefined if the engine has none. */
  readonly layers: SurfaceLayers | undefined;
}

/** The scope of the whole engine, with the layers of the config around its calls and lists. */
function createLayeredScope(context: EngineContext, sources: ScopeSources): LayeredScope {
  const { options, log, clock, events, ids, config } = context;
  const { catalog, children, provision, ...given } = sources;
  const { fleet, loader, connect, servers } = children;
  const view: Scope["view"] = (asker) => catalog.view(asker);
  const inner = serverCalls({ handle: fleet.handle, examples: given.examples, config, clock });
  const layers = options.layers?.around(config, inner);
  const calls = layers ? layeredHandler(layers, view) : inner;
  const plain = createScope({
    ...given,
    view,
    loader,
    log,
    clock,
    events,
    cursors: new Cursors(ids),
    results: new ResultStore(clock, ids),
    tasks: new Tasks({
      clock,
      ids: new ReplicaIds(ids, TASK_IDS),
      peers: ids.peers,
      time: () => new Date().toISOString(),
    }),
    provision: provision?.provision,
    connect,
    servers,
    fleet,
    call: compose(options.middleware ?? [], calls),
    config,
    credentials: options.credentials,
  });
  return { scope: layers ? layeredBy(plain, layers) : plain, layers };
}

/** Asks the user of a client to allow what the config withholds. */
function createConsent(
  { clock, log, config }: EngineContext,
  allow: NonNullable<EngineOptions["allow"]>,
  apply: (config: Config) => void,
): FolderConsent {
  return new FolderConsent({
    clock,
    log,
    question: () => {
      const { withheld } = config();
      return withheld && questionOf(withheld);
    },
    async allow(question) {
      const { withheld } = config();
      // The file may have changed while the person read the question.
      if (withheld && questionOf(withheld) === question) apply(await allow(withheld));
    },
  });
}

function catalogServers(
  config: Config,
  credentials: CallerCredentials | undefined,
): ReadonlyMap<string, CatalogServer> {
  const entry = (spec: ServerSpec): CatalogServer => {
    let identity: string | undefined;
    return {
      get identity() {
        identity ??= identityOf(spec);
        return identity;
      },
      permits: (tool) => permits(spec.tools, tool),
      ...(spec.perAccount && {
        credentialOf(account) {
          const own = credentials?.of(spec, account);
          return own && !MetaMcpError.is(own) ? own.credential : undefined;
        },
      }),
    };
  };
  return new Map(Array.from(config.servers, ([name, spec]) => [name, entry(spec)]));
}
