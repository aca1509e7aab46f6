/** Builds a gateway from its parts. The order of starting and stopping is in `createGateway`. */
import { join } from "node:path";
import { type Access, openAccess } from "../access/access.ts";
import { type AddressOf, addressReader } from "../access/client-address.ts";
import { RefusedCredentials } from "../access/refused-credentials.ts";
import { systemClock } from "../engine/system-clock.ts";
import { type CompileOptions, compile } from "../gateway/compile.ts";
import type { GatewayControl } from "../gateway/control.ts";
import { readObjects } from "../gateway/stored.ts";
import { isDoneWithin } from "../kernel/at-most.ts";
import { Events } from "../kernel/events.ts";
import { newReplicaId } from "../kernel/replica-ids.ts";
import type { Recording } from "../middleware/layer.ts";
import type { Store } from "../store/store.ts";
import { legacyState } from "../surface/task/legacy-form.ts";
import { forwardedOf } from "../transport/http/forwarded.ts";
import { createCore, type GatewayCore } from "./gateway-core.ts";
import type { GatewayContext, GatewayOptions } from "./gateway-options.ts";
import { openLayers } from "./layers.ts";
import { newId, vaultOf } from "./live/change-context.ts";
import { emitChanges } from "./live/emit-changes.ts";
import { InStep } from "./live/in-step.ts";
import type { LiveGateway, Start } from "./live/live-gateway.ts";
import { type GatewayAuthorization, openAuthorization, ssoLink } from "./logins/authorization.ts";
import { logRefusedLogins } from "./logins/log-refused-logins.ts";
import { openOidc } from "./logins/oidc.ts";
import { type GatewayLogins, openLogins } from "./logins/server-logins.ts";
import { namedLog } from "./named-log.ts";
import { serverRequested, watchFacts } from "./notify/facts.ts";
import { Notices } from "./notify/notices.ts";
import { startObserving } from "./observing.ts";
import { openReplicas } from "./replicas.ts";
import { openCounts } from "./shared/open-counts.ts";
import { BUNDLES } from "./shared/stored-bundles.ts";
import { GatewayAddress } from "./site/gateway-address.ts";
import { createHttp, type GatewayHttp } from "./site/gateway-http.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface Gateway {
  readonly control: GatewayControl;
  /** Resolves with the URL of the gateway once it listens. */
  listen(): Promise<string>;
  /**
   * The link with which the first administrator creates an account; undefined if no such account is needed.
   */
  setupLink(): Promise<string | undefined>;
  /** Reads the TLS certificate again. */
  reload(): void;
  /** Reports that it is not ready, and keeps serving. */
  drain(): void;
  /** Ends sessions and children, writes what is buffered and closes the store. */
  close(): Promise<void>;
  /** Kills all children; blocks until that is done. */
  killNow(): void;
}

const LAST_WRITES_MS = 1_000;
/** Calls that came while sessions were handed over have at least so long. */
const LAST_CALLS_MS = 1_000;
const NO_ADMIN =
  "there is no administrator, and passwords are turned off: log in at the identity provider as a member of --oidc-admin-group, or start with METAMCP_ADMIN_TOKEN";

export async function createGateway(given: GatewayOptions): Promise<Gateway> {
  const options = given.store.shared ? withBundles(given) : given;
  const { store, adminToken, clock = systemClock, events = new Events(), middlewareDir } = options;
  const compiling: CompileOptions = { entryContext: options.entryContext, vault: vaultOf(store) };
  const start = await compileStored(store, compiling);
  let live: LiveGateway | undefined;
  const compiled = () => live?.compiled ?? start.compiled;
  const log = namedLog(options.log, (uuid) => compiled().servers.get(uuid)?.object.name);
  const address = new GatewayAddress(options.publicUrl);
  const replica = options.replica ?? (store.shared ? newReplicaId() : undefined);
  const parts = { options, store, log, clock, events, replica, address, compiled };
  const counts = await openCounts(parts, () => replicas);
  const context: GatewayContext = { ...parts, counts };

  const recording: Recording = {
    isReady: () => observing.observer.audit.ready,
    begin: (call) => observing.observer.begin(call),
  };
  const holders = store.shared
    ? {
        isListed: (id: string) => replicas?.isListed(id) ?? true,
        refresh: async () => await replicas?.refresh(),
      }
    : undefined;
  const pipeline = await openLayers({ ...context, middlewareDir, recording, holders });
  const people = await openPeople(context);
  const notices = new Notices({
    ...context,
    webhooks: () => compiled().settings?.spec.notify ?? [],
    vault: compiling.vault,
    url: address.url,
    time: Date.now,
  });
  const replicas = await openReplicas(context, {
    addressOf: people.addressOf,
    sessions: () => core.endpoints.movable,
    release: (which) => core.endpoints.release(which),
    serve: (request, response) => http.server.serve(request, response),
    processes: () => core.engine.connections().processes,
    revision: () => core.control.revision,
    gone: (replica) => pipeline.approvals.gone(replica),
  });
  const owners = replicas?.owners;
  const { peers } = replicas ?? {};
  const core: GatewayCore = await createCore(context, {
    ...people,
    start,
    compiling,
    pipeline,
    owners,
    peers,
    placement: replicas?.placement,
    requested: (request) => notices.tell(serverRequested(request)),
  });
  replicas?.answerTasks((owner) =>
    core.engine.scope.tasks.ofOwner(owner).map((task) => legacyState(task).toString()),
  );
  replicas?.answerPages((caller) => core.engine.scope.results.links.pagesOf(caller));
  await replicas?.serve(core);
  live = core.control;
  const observing = await startObserving(context, core);
  await replicas?.relayEvents(observing.observer.feed);
  const stopFacts = watchFacts(
    {
      events,
      clock,
      serverName: (uuid) => compiled().servers.get(uuid)?.object.name,
      expiringBefore: (before) => people.access.keys.expiringBefore(before),
      auditLost: () => observing.observer.audit.state.lost,
      replica: replica ?? "gateway",
    },
    (fact) => notices.tell(fact),
  );
  const following = followChanges(context, core, people);
  const settled = (): Promise<unknown> | undefined => {
    const [config, records] = [following.settled(), people.access.settled()];
    return config || records ? Promise.all([config, records]) : undefined;
  };
  const inStep = store.shared ? new InStep({ store, clock, settled }) : undefined;
  const revoke = (account: string): Promise<void> => authorization.grants.revokeAll(account);
  const oidc = options.oidc && openOidc(options.oidc, context, people.access, revoke);
  const authorization: GatewayAuthorization = await openAuthorization({
    ...context,
    access: people.access,
    base: address.origin,
    addressOf: people.addressOf,
    sso: people.sso,
    recheck: oidc && ((account) => oidc.checks.check(account)),
    onEnded: (principal) => core.endpoints.endOf(principal),
  });
  let closing: Promise<void> | undefined;
  let draining = false;
  const isClosing = (): boolean => draining || closing !== undefined;
  const { observer } = observing;
  const http: GatewayHttp = createHttp(context, {
    ...people,
    core,
    pipeline,
    oidc,
    authorization,
    observer,
    replicas,
    notices,
    inStep,
    isClosing,
  });

  async function close(): Promise<void> {
    following.stop();
    stopFacts();
    notices.close();
    const failuresWritten = core.failures.close();
    oidc?.checks.stop();
    const { drainMs = 0 } = options;
    const end = clock.now() + drainMs;
    // Until then this gateway takes connections, and passes requests on to the others.
    await replicas?.handOver(drainMs);
    void http.server.stop();
    people.refused.flush();
    await pipeline.approvals.close();
    await core.engine.close(Math.max(Math.min(drainMs, LAST_CALLS_MS), end - clock.now()));
    await replicas?.close();
    core.endpoints.end();
    // Ends the event streams of administrators, which would keep the HTTP server open.
    await Promise.all([observing.close(), core.provisioning.close()]);
    await http.server.closeAll();
    authorization.close();
    people.logins.close();
    await http.metrics?.close();
    // A store that hangs must not hold the stop; closing it gives up what still waits for it.
    await Promise.all([failuresWritten, isDoneWithin(clock, LAST_WRITES_MS, people.access.close())]);
    await store.close();
  }
  return {
    control: core.control,
    async listen() {
      await replicas?.open();
      const url = await http.server.listen();
      address.listensOn(url);
      await http.metrics?.listen();
      // Reads the tools that earlier runs listed. Starts no server.
      void core.engine.catalog.loadCached();
      return url;
    },
    async setupLink() {
      const { setup, accounts } = people.access;
      if (adminToken !== undefined) return undefined;
      if (!accounts.hasAdmin && !accounts.takesPasswords) log.warn(NO_ADMIN);
      const code = await setup.begin();
      return code && `${address.url()}/setup?code=${code}`;
    },
    reload: () => http.server.reload(),
    drain() {
      draining = true;
      // Who stops this gateway may end its servers too.
      void core.failures.close();
      http.server.drain();
      void replicas?.drain();
    },
    close() {
      closing ??= close();
      return closing;
    },
    killNow: () => core.engine.killNow(),
  };
}

/** Entries name bundles below a folder that each gateway has for itself. */
function withBundles(options: GatewayOptions): GatewayOptions {
  const { entryContext, home } = options;
  const env = { ...entryContext.env, [BUNDLES]: join(home, "bundles") };
  return { ...options, entryContext: { ...entryContext, env } };
}

async function compileStored(store: Store, compiling: CompileOptions): Promise<Start> {
  const { revision, objects } = await store.load();
  const { compiled } = compile(readObjects(objects), compiling);
  return { revision, compiled };
}

interface People {
  readonly access: Access;
  readonly logins: GatewayLogins;
  /** Returns the address of the client, behind trusted proxies too. */
  readonly addressOf: AddressOf;
  readonly refused: RefusedCredentials;
  /** Returns the link to the login at the identity provider; undefined without one. */
  readonly sso: typeof ssoLink | undefined;
}

/** Opens accounts, keys and sessions of people, and their logins at servers. */
async function openPeople(context: GatewayContext): Promise<People> {
  const { adminToken, publicUrl, http, trustProxy = [], oidc } = context.options;
  const https = http.tls !== undefined;
  const settings = () => context.compiled().settings?.spec;
  const access = await openAccess({
    ...context,
    newId,
    adminToken,
    publicUrl,
    https,
    // Without an identity provider nobody could log in any more.
    passwords: () => oidc === undefined || settings()?.passwords !== "off",
    keyLifetimeMs() {
      const days = settings()?.keyLifetimeDays;
      return days === undefined ? undefined : days * DAY_MS;
    },
  });
  const ofConnection = addressReader(trustProxy);
  const addressOf: AddressOf = (request) => forwardedOf(request)?.address ?? ofConnection(request);
  const sso = oidc && ssoLink;
  const logins = await openLogins({ ...context, access, addressOf, sso, base: context.address.origin });
  const refused = new RefusedCredentials({ ...context, tries: context.store.tries }, addressOf);
  return { access, logins, addressOf, refused, sso };
}

interface Following {
  stop(): void;
  /** Resolves when the newest revision that the store has reported is served. Undefined if it is. */
  settled(): Promise<unknown> | undefined;
}

/** Passes changes of accounts, logins and the store on to engine and endpoints. */
function followChanges(
  { store, log, events, compiled }: GatewayContext,
  { engine, endpoints, control }: GatewayCore,
  { access, logins }: People,
): Following {
  const reading = new Set<Promise<void>>();
  logins.onChange((account) => engine.credentialsChanged(account));
  access.onEnded((principal) => endpoints.endOf(principal));
  access.accounts.onChange((account) => {
    endpoints.endWithoutRight(account);
    // Layers judge by groups and roles, so a change of them can change lists.
    void endpoints.changed();
  });
  const stops = [
    logRefusedLogins(events, log),
    events.on((event) => {
      if (event.type !== "revision") return;
      access.keys.limitChanged();
      const issuers = compiled().settings?.spec.issuers ?? [];
      endpoints.endOfOtherIssuers(new Set(issuers.map(({ issuer }) => issuer)));
    }),
    store.onChange((change) => {
      if (change.of !== "config") return;
      const read = control
        .follow()
        .catch(({ message }: Error) =>
          log.warn(
            `the new revision could not be read from the store: ${message}; the last known state stays in use`,
          ),
        )
        .finally(() => reading.delete(read));
      reading.add(read);
    }),
    emitChanges(engine, store),
  ];
  return {
    stop() {
      for (const stop of stops) stop();
    },
    settled: () => (reading.size > 0 ? Promise.all(reading) : undefined),
  };
}
