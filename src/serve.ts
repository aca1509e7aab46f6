/** Builds a gateway from its parts. The order of starting and stopping is in `createGateway`. */
import { type Access, openAccess } from "./access/access.ts";
import { addressReader } from "./access/client-address.ts";
import { RefusedCredentials } from "./access/refused-credentials.ts";
import { type CompileOptions, compile } from "./gateway/compile.ts";
import type { GatewayControl } from "./gateway/control.ts";
import { readObjects } from "./gateway/stored.ts";
import { isDoneWithin } from "./kernel/at-most.ts";
import { Events } from "./kernel/events.ts";
import type { Recording } from "./middleware/layer.ts";
import { type GatewayAuthorization, openAuthorization, ssoLink } from "./serving/authorization.ts";
import { newId, vaultOf } from "./serving/change-context.ts";
import { emitChanges } from "./serving/emit-changes.ts";
import { GatewayAddress } from "./serving/gateway-address.ts";
import { createCore, type GatewayCore } from "./serving/gateway-core.ts";
import { createHttp } from "./serving/gateway-http.ts";
import type { GatewayContext, GatewayOptions } from "./serving/gateway-options.ts";
import type { LiveGateway, Start } from "./serving/live-gateway.ts";
import { logReadFailure } from "./serving/log-read-failure.ts";
import { logRefusedLogins } from "./serving/log-refused-logins.ts";
import { type GatewayLogins, openLogins } from "./serving/logins.ts";
import { namedLog } from "./serving/named-log.ts";
import { startObserving } from "./serving/observing.ts";
import { openOidc } from "./serving/oidc.ts";
import { openPipeline } from "./serving/pipeline.ts";
import type { Store } from "./store/store.ts";
import { systemClock } from "./system-clock.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface Gateway {
  readonly control: GatewayControl;
  /** Resolves with the URL of the gateway once it listens. */
  listen(): Promise<string>;
  /** The link with which the first administrator creates an account; undefined if no such account is needed. */
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

export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, adminToken, clock = systemClock, events = new Events(), middlewareDir } = options;
  const compiling: CompileOptions = { entryContext: options.entryContext, vault: vaultOf(store) };
  const start = await compileStored(store, compiling);
  let live: LiveGateway | undefined;
  const compiled = () => live?.compiled ?? start.compiled;
  const log = namedLog(options.log, (uuid) => compiled().servers.get(uuid)?.object.name);
  const address = new GatewayAddress(options.publicUrl);
  const context: GatewayContext = { options, store, log, clock, events, address, compiled };

  const recording: Recording = {
    isReady: () => observing.observer.audit.ready,
    begin: (call) => observing.observer.begin(call),
  };
  const pipeline = await openPipeline({ ...context, middlewareDir, recording });
  const people = await openPeople(context);
  const core = await createCore(context, { ...people, start, compiling, pipeline });
  live = core.control;
  const observing = await startObserving(context, core);
  const stopFollowing = followChanges(context, core, people);
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
  const http = createHttp(context, { ...people, core, pipeline, oidc, authorization, observer, isClosing });

  async function close(): Promise<void> {
    stopFollowing();
    oidc?.checks.stop();
    void http.server.stop();
    people.refused.flush();
    await pipeline.approvals.close();
    await core.engine.close();
    core.endpoints.end();
    // Ends the event streams of administrators, which would keep the HTTP server open.
    await Promise.all([observing.close(), core.provisioning.close()]);
    await http.server.closeAll();
    authorization.close();
    people.logins.close();
    await http.metrics?.close();
    // A store that hangs must not hold the stop; closing it gives up what still waits for it.
    await isDoneWithin(clock, LAST_WRITES_MS, people.access.close());
    await store.close();
  }
  return {
    control: core.control,
    async listen() {
      const url = await http.server.listen();
      address.listensOn(url);
      await http.metrics?.listen();
      // Reads the tools that earlier runs listed. Starts no server.
      void core.engine.catalog.loadCached();
      return url;
    },
    async setupLink() {
      const code = adminToken === undefined ? await people.access.setup.begin() : undefined;
      return code && `${address.url()}/setup?code=${code}`;
    },
    reload: () => http.server.reload(),
    drain() {
      draining = true;
    },
    close() {
      closing ??= close();
      return closing;
    },
    killNow: () => core.engine.killNow(),
  };
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
  readonly addressOf: ReturnType<typeof addressReader>;
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
  const addressOf = addressReader(trustProxy);
  const sso = oidc && ssoLink;
  const logins = await openLogins({ ...context, access, addressOf, sso, base: context.address.origin });
  const refused = new RefusedCredentials(context.events, context.clock, addressOf);
  return { access, logins, addressOf, refused, sso };
}

/** Passes changes of accounts, logins and the store on to engine and endpoints. Returns the function that stops it. */
function followChanges(
  { store, log, events }: GatewayContext,
  { engine, endpoints, control }: GatewayCore,
  { access, logins }: People,
): () => void {
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
      if (event.type === "revision") access.keys.limitChanged();
    }),
    store.onChange((change) => {
      if (change.of === "config") void control.follow().catch(logReadFailure(log, "the new revision"));
    }),
    emitChanges(engine, store),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
