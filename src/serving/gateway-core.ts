/** The core of a gateway: the engine with its servers, the endpoints in front of it, and the control that changes both. */
import type { AccountDirectory } from "../access/account.ts";
import { createSearch } from "../catalog/search/search.ts";
import { idOf } from "../config/identity.ts";
import type { Engine } from "../engine.ts";
import type { CompileOptions } from "../gateway/compile.ts";
import { NamedSearch } from "../gateway/endpoint/named-search.ts";
import { OverrideSearch } from "../gateway/endpoint/override-search.ts";
import { Views } from "../gateway/view/views.ts";
import { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import { createEngine } from "../main.ts";
import { contextOf, vaultOf } from "./change-context.ts";
import { engineConfig, searchedName } from "./engine-config.ts";
import type { GatewayContext } from "./gateway-options.ts";
import { LiveGateway, type Start } from "./live-gateway.ts";
import type { GatewayLogins } from "./logins.ts";
import { mayStillUse } from "./may-still-use.ts";
import type { Pipeline } from "./pipeline.ts";
import { Provisioning } from "./provision/provisioning.ts";
import { ProvisionRequests } from "./provision/requests.ts";
import { ServerReachability } from "./reachability.ts";
import { ServedEndpoints } from "./served-endpoints.ts";
import { ServerLines } from "./server-lines.ts";

export interface CoreParts {
  /** The stored objects, as they were at the start. */
  readonly start: Start;
  readonly compiling: CompileOptions;
  readonly pipeline: Pipeline;
  readonly logins: Pick<GatewayLogins, "credentials">;
  readonly access: { readonly accounts: Pick<AccountDirectory, "byId"> };
}

export interface GatewayCore {
  readonly engine: Engine;
  readonly endpoints: ServedEndpoints;
  readonly control: LiveGateway;
  readonly provisioning: Provisioning;
}

export async function createCore(context: GatewayContext, parts: CoreParts): Promise<GatewayCore> {
  const { options, store, clock, log, compiled } = context;
  const { start, compiling, pipeline, logins, access } = parts;
  const { layers, compiledLayers } = pipeline;
  const reach = new ServerReachability();
  const lines = new ServerLines();
  const named = new NamedSearch(options.search ?? createSearch(), (id) => searchedName(compiled(), id));
  const search = new OverrideSearch(named);
  const engine = createEngine({
    ...options,
    clock,
    log,
    events: context.events,
    search: named,
    config: engineConfig(options.config, start.compiled),
    credentials: logins.credentials,
    onStderr: (spec, line) => lines.add(idOf(spec), line),
    onConnected(server) {
      if (reach.recovered(server)) void endpoints.changed();
    },
  });
  const provisioning = new Provisioning({
    home: options.home,
    entryContext: options.entryContext,
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
    sessionTimeoutMs: options.sessionTimeoutMs,
    search,
    views: new Views(),
    provisioning,
    limiter: new ConcurrencyLimiter(() => compiled().settings?.spec.limits ?? {}),
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
    lines,
    layers,
    compiledLayers,
    search,
    compiling,
    config: options.config,
    context: await contextOf(vaultOf(store), layers, toolsOf),
    renamed: () => named.renamed(),
    clock,
    log,
  });
  return { engine, endpoints, control, provisioning };
}
