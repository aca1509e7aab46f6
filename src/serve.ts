/** Puts a gateway together: store, engine, endpoints, and what listens. Knows the order of starting and stopping. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { openAccess } from "./access/access.ts";
import { addressReader } from "./access/client-address.ts";
import { OidcLogin, type OidcSettings } from "./access/oidc-login.ts";
import { Passes } from "./access/passes.ts";
import type { AdminParts } from "./admin/routes/parts.ts";
import { createSearch } from "./catalog/search/search.ts";
import type { SearchStrategy } from "./catalog/search/strategy.ts";
import { idOf } from "./config/identity.ts";
import type { Config } from "./config/spec.ts";
import type { EngineOptions } from "./engine.ts";
import { type Compiled, type CompileOptions, compile } from "./gateway/compile.ts";
import type { GatewayControl } from "./gateway/control.ts";
import { NamedSearch } from "./gateway/endpoint/named-search.ts";
import { OverrideSearch } from "./gateway/endpoint/override-search.ts";
import { readObjects } from "./gateway/stored.ts";
import { Views } from "./gateway/view/views.ts";
import { Events } from "./kernel/events.ts";
import { Room } from "./kernel/room.ts";
import { createEngine } from "./main.ts";
import type { AuditOptions } from "./observe/audit/audit-log.ts";
import type { OtelEnvironment } from "./observe/traces/otel-environment.ts";
import { openAuthorization, ssoLink } from "./serving/authorization.ts";
import { contextOf, newId, vaultOf } from "./serving/change-context.ts";
import { clientSessions } from "./serving/client-sessions.ts";
import { ConsoleFiles } from "./serving/console-files.ts";
import { engineConfig, searchedName } from "./serving/engine-config.ts";
import { GatewaySite } from "./serving/gateway-site.ts";
import { keepKnown } from "./serving/keep-known.ts";
import { LiveGateway } from "./serving/live-gateway.ts";
import { openLogins } from "./serving/logins.ts";
import { MetricsPort } from "./serving/metrics-port.ts";
import { createObserver } from "./serving/observing.ts";
import { openPipeline } from "./serving/pipeline.ts";
import { Market } from "./serving/provision/market.ts";
import { ProvisionRequests } from "./serving/provision/requests.ts";
import { ServerReach } from "./serving/reachability.ts";
import { ServedEndpoints } from "./serving/served-endpoints.ts";
import { ServerLines } from "./serving/server-lines.ts";
import { tellChanges } from "./serving/tell-changes.ts";
import { Tries } from "./serving/try/tries.ts";
import { createTrying } from "./serving/trying.ts";
import type { Store } from "./store/store.ts";
import { systemClock } from "./system-clock.ts";
import { createHostGuard, type GuardOptions, isLoopback } from "./transport/http/guard.ts";
import { HttpServer, type HttpServerOptions } from "./transport/http/http-server.ts";

export interface GatewayOptions extends Omit<EngineOptions, "config" | "onStderr" | "onConnected" | "items"> {
  readonly store: Store;
  /** What is configured beside the servers. */
  readonly config: Config;
  readonly search?: SearchStrategy;
  readonly front: HttpServerOptions & Omit<GuardOptions, "token">;
  readonly sessionTimeoutMs: number;
  /** What the variables in entries of servers mean, and where relative paths begin. */
  readonly around: CompileOptions["around"];
  /** How people and clients reach it, where that is not where it listens. */
  readonly publicUrl: string | undefined;
  readonly adminToken: string | undefined;
  /** Where people may log in beside here. */
  readonly oidc: OidcSettings | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: addresses or networks. */
  readonly trustProxy?: readonly string[];
  readonly audit: AuditOptions;
  /** Where metrics are to be had without login, beside `/metrics`. */
  readonly metricsPort: number | undefined;
  /** Where traces go; nothing of it is loaded without. */
  readonly otel?: OtelEnvironment | undefined;
  /** Whether there are pages for people at `/`. */
  readonly console: boolean;
  /** Makes what answers below `/api/v1`. */
  readonly admin: (parts: ForAdmin) => Admin;
  /** Where layers of one's own are. */
  readonly middlewareDir?: string | undefined;
  /** Where servers are found; the official registry unless given. */
  readonly registryUrl?: string | undefined;
}

/** What the admin API works on. */
type ForAdmin = Omit<AdminParts, "log">;

export type Admin = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface Gateway {
  readonly control: GatewayControl;
  /** Resolves with the address it can be reached at, once it can. */
  listen(): Promise<string>;
  /** The link with which the first administrator is made; undefined where nobody needs one. */
  setupLink(): Promise<string | undefined>;
  /** Sessions and children end, what is buffered is written, the store is closed. */
  close(): Promise<void>;
  /** Kills all children, blocking. */
  killNow(): void;
}

export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, log, front: listening, around, sessionTimeoutMs, clock = systemClock } = options;
  const vault = vaultOf(store);
  const compiling: CompileOptions = { around, vault };
  const { revision, objects } = await store.load();
  const { compiled } = compile(readObjects(objects), compiling);
  let live: LiveGateway | undefined;
  const compiledNow = (): Compiled => live?.compiled ?? compiled;
  const events = options.events ?? new Events();
  const { layers, stock, approvals } = await openPipeline({
    store,
    clock,
    log,
    events,
    compiled: compiledNow,
    middlewareDir: options.middlewareDir,
    recordable: () => observer.audit.ready,
  });
  const { publicUrl, adminToken, metricsPort } = options;
  let url = "";
  const reachedAt = (): string => (publicUrl ?? url).replace(/\/$/, "");
  const base = (): string => (reachedAt() === "" ? "" : new URL(reachedAt()).origin);
  const https = listening.tls !== undefined;
  const access = await openAccess({ store, clock, log, newId, adminToken, publicUrl, https });
  const addressOf = addressReader(options.trustProxy ?? []);
  const sso = options.oidc && ssoLink;
  const logins = await openLogins({
    store,
    access,
    log,
    events,
    addressOf,
    sso,
    compiled: compiledNow,
    base,
  });
  const reach = new ServerReach();
  const lines = new ServerLines();
  const named = new NamedSearch(options.search ?? createSearch(), (id) => searchedName(compiledNow(), id));
  const engine = createEngine({
    ...options,
    clock,
    events,
    search: named,
    config: engineConfig(options.config, compiled),
    credentials: logins.credentials,
    onStderr: (spec, line) => lines.add(idOf(spec), line),
    onConnected(server) {
      if (reach.recovered(server)) void endpoints.changed();
    },
  });
  const search = new OverrideSearch(named);
  const market = new Market({
    home: options.home,
    around,
    clock,
    log,
    registryUrl: options.registryUrl,
    engine,
    control: () => control,
    requests: new ProvisionRequests(store),
  });
  const endpoints: ServedEndpoints = new ServedEndpoints({
    engine,
    clock,
    sessionTimeoutMs,
    search,
    views: new Views(),
    market,
    room: new Room(() => compiledNow().settings?.spec.limits ?? {}),
    reachable: reach,
    stock,
    compiled: compiledNow,
  });
  const newContext = await contextOf(
    vault,
    layers,
    (server) => engine.catalog.snapshot.listings.get(server)?.tools,
  );
  live = new LiveGateway(
    { revision, compiled },
    {
      store,
      engine,
      endpoints,
      reach,
      lines,
      layers,
      stock,
      search,
      compiling,
      config: options.config,
      context: newContext,
      renamed: () => named.renamed(),
      clock,
      log,
    },
  );
  const control: LiveGateway = live;

  const passes = new Passes();
  const observer = createObserver({
    engine,
    endpoints,
    compiled: compiledNow,
    revision: () => control.revision,
    store,
    clock,
    log,
    options: options.audit,
    spansLost: () => tracing?.lost ?? 0,
  });
  const tracing =
    options.otel &&
    (await import("./observe/traces/tracing.ts")).startTracing(options.otel, {
      events: engine.events,
      observer,
      clock,
      log,
    });
  logins.onChange((account) => engine.credentialsChanged(account));
  access.onEnded((principal) => endpoints.endOf(principal));
  // Groups and roles decide what is seen.
  access.accounts.onChange(() => void endpoints.changed());
  const stopFollowing = store.onChange((change) => {
    if (change.of === "config") void control.follow().catch(keepKnown(log, "the new revision"));
  });
  const stopTelling = tellChanges(engine, store);

  const { accounts } = access;
  const login = { accounts, sealer: store.sealer, publicUrl: reachedAt };
  const oidc = options.oidc && new OidcLogin(options.oidc, login);
  const authorization = await openAuthorization({
    store,
    access,
    log,
    compiled: compiledNow,
    base,
    addressOf,
    sso,
    events: engine.events,
    onEnded: (principal) => endpoints.endOf(principal),
  });

  const exposed = !isLoopback(listening.host) || publicUrl !== undefined;
  let closing: Promise<void> | undefined;
  const site = new GatewaySite({
    compiled: compiledNow,
    endpoints,
    access,
    authorization,
    logins: logins.site,
    passes,
    hostGuard: createHostGuard(listening),
    readiness: () => ({
      ready: closing === undefined,
      down: [],
      // Why is for administrators (/attention): a reason may name the address of the database.
      ...(store.state.up ? {} : { store: "down" }),
    }),
    admin: options.admin({
      control,
      access,
      oidc,
      grants: authorization.grants,
      logins: logins.control,
      publicUrl: reachedAt,
      events: engine.events,
      observed: observer,
      trying: createTrying({
        engine,
        endpoints,
        control,
        passes,
        url: reachedAt,
        compiled: compiledNow,
        stock,
        clock,
      }),
      tries: new Tries({ endpoints, events: engine.events }),
      pins: engine.pins,
      layers,
      health: { exposed, store: () => store.state },
      market,
      approvals,
      sessions: clientSessions({ engine, endpoints, names: observer.names, clock }),
    }),
    console: options.console ? new ConsoleFiles() : undefined,
    // Whoever is on this machine can see as much by other means.
    metrics: exposed ? undefined : () => observer.metrics.text(),
  });
  const front = new HttpServer(listening, site);
  const scraped =
    metricsPort === undefined
      ? undefined
      : new MetricsPort({ host: listening.host, port: metricsPort }, () => observer.metrics.text());

  async function close(): Promise<void> {
    stopFollowing();
    stopTelling();
    void front.stop();
    await approvals.close();
    await engine.close();
    endpoints.end();
    // Ends the streams of whoever watches.
    await Promise.all([observer.close(), tracing?.close(), market.close()]);
    await front.closeAll();
    authorization.close();
    logins.close();
    await scraped?.close();
    await access.close();
    await store.close();
  }
  return {
    control,
    async listen() {
      url = await front.listen();
      await scraped?.listen();
      // Starts nothing: what earlier runs saw of the servers.
      void engine.catalog.loadCached();
      return url;
    },
    async setupLink() {
      const code = adminToken === undefined ? await access.setup.begin() : undefined;
      return code && `${reachedAt()}/setup?code=${code}`;
    },
    close() {
      closing ??= close();
      return closing;
    },
    killNow: () => engine.killNow(),
  };
}
