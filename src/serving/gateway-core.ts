/**
 * The core of a gateway: the engine with its servers, the endpoints in front of it, and the control that
 * changes both.
 */
import { LazySearch } from "../catalog/search/lazy-search.ts";
import { idOf } from "../config/identity.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Engine } from "../engine/engine.ts";
import type { CompileOptions } from "../gateway/compile.ts";
import { NamedSearch } from "../gateway/endpoint/named-search.ts";
import { OverrideSearch } from "../gateway/endpoint/override-search.ts";
import { Views } from "../gateway/view/views.ts";
import { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import type { Peers } from "../kernel/replica-ids.ts";
import type { Placements } from "../replica/placements.ts";
import type { GatewayContext } from "./gateway-options.ts";
import { LastFailures } from "./inspect/last-failures.ts";
import { ServerLines } from "./inspect/server-lines.ts";
import type { GatewayLayers } from "./layers.ts";
import { contextOf, vaultOf } from "./live/change-context.ts";
import { engineConfig, searchedName } from "./live/engine-config.ts";
import { LiveGateway, type Start } from "./live/live-gateway.ts";
import { type Callers, PolicyTests } from "./live/policy-tests.ts";
import { ServerReachability } from "./live/reachability.ts";
import type { GatewayLogins } from "./logins/server-logins.ts";
import { Provisioning } from "./provision/provisioning.ts";
import { ProvisionRequests } from "./provision/requests.ts";
import { StoredBundles } from "./shared/stored-bundles.ts";
import { StoredLists } from "./shared/stored-lists.ts";
import { StoredPins } from "./shared/stored-pins.ts";
import { mayStillUse } from "./site/may-still-use.ts";
import type { ServedParts } from "./site/served-endpoint.ts";
import { ServedEndpoints } from "./site/served-endpoints.ts";

/** One object, because each call asks for the limits several times. */
const UNLIMITED = {};

export interface CoreParts {
  /** The stored objects, as they were at the start. */
  readonly start: Start;
  readonly compiling: CompileOptions;
  readonly pipeline: GatewayLayers;
  readonly logins: Pick<GatewayLogins, "credentials">;
  readonly access: Callers;
  readonly owners: ServedParts["owners"];
  /** The other gateways on the store. */
  readonly peers: Peers | undefined;
  readonly placement: Placements | undefined;
  /** Runs when a client asked for a server. */
  readonly requested: (request: { readonly uuid: string; readonly name: string }) => void;
}

export interface GatewayCore {
  readonly engine: Engine;
  readonly endpoints: ServedEndpoints;
  readonly control: LiveGateway;
  readonly provisioning: Provisioning;
  readonly failures: LastFailures;
}

export async function createCore(context: GatewayContext, parts: CoreParts): Promise<GatewayCore> {
  const { options, store, clock, log, compiled, counts } = context;
  const { start, compiling, pipeline, logins, access, owners, placement } = parts;
  const { layers, compiledLayers } = pipeline;
  const reach = new ServerReachability();
  const lines = new ServerLines();
  const strategy = options.search ?? new LazySearch({ home: options.home, clock, log });
  const named = new NamedSearch(strategy, (id) => searchedName(compiled(), id));
  const search = new OverrideSearch(named);
  const { env } = options.entryContext;
  const bundles = store.shared ? new StoredBundles(store, { home: options.home, clock, env }) : undefined;
  const engine = createEngine({
    ...options,
    clock,
    log,
    events: context.events,
    secret: store.sealer.derive("engine"),
    replica: context.replica,
    peers: parts.peers,
    placement,
    pinStorage: new StoredPins(store, options.home),
    // An embedded store has one process, for which files are enough.
    listStorage: store.shared ? await StoredLists.open(store, { ...context, home: options.home }) : undefined,
    beforeStart: bundles && ((spec) => bundles.ready(spec)),
    nameOf: (id) => searchedName(compiled(), id) ?? id,
    search: named,
    config: engineConfig(options.config, start.compiled),
    credentials: logins.credentials,
    onStderr: (spec, line) => lines.add(idOf(spec), line),
    onConnected(server) {
      if (reach.recovered(server)) void endpoints.changed();
    },
  });
  const failures = await LastFailures.open({
    ...context,
    serverOf: (uuid) => compiled().servers.get(uuid),
    statusOf: (uuid) => engine.scope.server(uuid),
  });
  const provisioning = new Provisioning({
    home: options.home,
    entryContext: options.entryContext,
    bundles,
    clock,
    log,
    registry: options.registry,
    engine,
    control: () => control,
    requests: new ProvisionRequests(store, parts.requested),
  });
  const endpoints: ServedEndpoints = new ServedEndpoints({
    engine,
    clock,
    sessionTimeoutMs: options.sessionTimeoutMs,
    heartbeatMs: options.heartbeatMs,
    owners,
    search,
    views: new Views(),
    provisioning,
    counts,
    limiter: new ConcurrencyLimiter(
      () => compiled().settings?.spec.limits ?? UNLIMITED,
      undefined,
      counts && { counts, place: "gateway" },
    ),
    reachable: reach,
    compiledLayers,
    compiled,
    mayUse: (endpoint, principal) => mayStillUse(endpoint, principal, access.accounts),
  });
  const toolsOf = (server: string) => engine.catalog.snapshot.listings.get(server)?.tools;
  const control: LiveGateway = new LiveGateway(start, {
    store,
    engine,
    endpoints,
    reach,
    failures,
    lines,
    layers,
    compiledLayers,
    search,
    placement,
    compiling,
    tests: new PolicyTests({
      layers,
      clock,
      listingOf: (server) => engine.catalog.snapshot.listings.get(server),
      access,
    }),
    config: options.config,
    context: await contextOf(vaultOf(store), layers, toolsOf),
    renamed: () => named.renamed(),
    clock,
    log,
  });
  return { engine, endpoints, control, provisioning, failures };
}
