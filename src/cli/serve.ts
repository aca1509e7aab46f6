/** `metamcp serve`: runs the gateway of a team until a signal arrives. */
import type { EventEmitter } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { addressReader } from "../access/client-address.ts";
import type { OidcSettings } from "../access/identity-provider.ts";
import type { ChildUser } from "../child/child-user.ts";
import { environmentOf } from "../child/stdio/environment.ts";
import { emptyConfig } from "../config/check.ts";
import { type FlagValues, UsageError } from "../config/command-line.ts";
import { cannotConfine } from "../config/confinable.ts";
import type { Settings } from "../config/flags.ts";
import { SERVE_FLAGS } from "../config/gateway-flags.ts";
import type { ReadSettings } from "../config/settings.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import type { GatewayControl } from "../gateway/control.ts";
import { type Env, homeFolder } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { checkAuditFile } from "../observe/audit/audit-file.ts";
import { otelEnvironment } from "../observe/traces/otel-environment.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import { createGateway, type Gateway } from "../serving/gateway.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { isLoopback } from "../transport/http/guard.ts";
import { openBrowser } from "./browser.ts";
import { chooseSearch } from "./choose-search.ts";
import type { Command, ExitCode } from "./command.ts";
import { executorChoice } from "./engine.ts";
import { refuseInspection } from "./hide-environment.ts";
import { createLog } from "./log.ts";
import { forget } from "./own-secrets.ts";
import { clearOrphans, stopSignal } from "./process.ts";
import { registryOf } from "./registry.ts";
import { childUserOf } from "./serve-child-user.ts";
import { addSkillsServer, applyStartFiles, readStartFiles } from "./serve-files.ts";

type ServeSettings = Settings & FlagValues<typeof SERVE_FLAGS>;
type Given = ReadSettings<typeof SERVE_FLAGS>;

const MIN_TOKEN_LENGTH = 32;
const OTEL_SECRETS = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

export const command: Command = {
  name: "serve",
  usage: "serve [flags]",
  summary: "Start a gateway for a team: servers, namespaces and endpoints over HTTP.",
  flags: SERVE_FLAGS,
  takes: [0, 0],
  run: (given, env) => run(given as unknown as Given, env),
};

async function run({ settings, given, overrides, warnings }: Given, env: Env): Promise<ExitCode> {
  check(settings);
  refuseInspection();
  forget(process.env, ["PGPASSWORD", ...OTEL_SECRETS, settings.embedderKeyEnv]);
  const home = homeFolder(env);
  const log = createLog({ level: settings.logLevel, file: settings.logFile });
  for (const warning of warnings) log.warn(warning);
  const registry = registryOf({ settings, given });
  const files = await readStartFiles(settings);
  if (settings.auditFile !== undefined) await checkAuditFile(settings.auditFile);
  const url = settings.store ?? `file:${home}/gateway/gateway.db`;
  const childUser = await childUserOf(settings, home);
  const store = await openStore({ url, home, env, clock, log });
  const config = emptyConfig(home, overrides);
  const gateway = await openGateway({ settings, env, store, log, home, config, registry, childUser });
  try {
    await applyStartFiles(gateway.control, files, log);
    if (settings.skillsDir.length > 0) await addSkillsServer(gateway.control);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  process.once("exit", () => gateway.killNow());
  const reload = (): void => {
    log.reopen();
    log.info("SIGHUP: reading the certificate again");
    gateway.reload();
  };
  const stopped = stopSignal(reload);
  void clearOrphans(log, home, childUser);
  warnAboutPublicEndpoints(settings, gateway.control, log);
  try {
    const url = await gateway.listen();
    const link = await gateway.setupLink();
    const setup = link ? `Open this link within 24 hours to create the first administrator: ${link}\n` : "";
    // People and scripts read these lines, so they do not depend on the log level. One write, so that a
    // reader gets both lines together.
    process.stderr.write(`${url}\n${setup}`);
    (process as EventEmitter).emit("metamcp:gateway");
    if (settings.open) openBrowser(new URL(link ?? settings.publicUrl ?? url));
    await stopped;
    gateway.drain();
    // A second signal ends the pause.
    const { drain } = drainOf(settings);
    if (drain > 0) await Promise.race([setTimeout(drain), stopSignal(reload)]);
  } finally {
    await gateway.close();
  }
  return 0;
}

async function openGateway({
  settings,
  env,
  store,
  log,
  home,
  config,
  registry,
  childUser,
}: {
  settings: ServeSettings;
  env: Env;
  store: Store;
  log: Log;
  home: string;
  config: ReturnType<typeof emptyConfig>;
  registry: RegistrySource | undefined;
  childUser: ChildUser | undefined;
}): Promise<Gateway> {
  const { host, port, tls, tlsCert = "", tlsKey = "", publicUrl, adminToken } = settings;
  const { createAdmin } = await import("../admin/admin.ts");
  try {
    return await createGateway({
      store,
      log,
      home,
      config,
      clock,
      drainMs: drainOf(settings).drainCalls,
      maxMessageBytes: settings.maxMessage,
      search: chooseSearch(settings, config, { home, clock, log, env }),
      code: executorChoice(settings),
      pin: settings.pin,
      notify: !settings.noNotify,
      sessionTimeoutMs: settings.sessionTimeout,
      heartbeatMs: settings.heartbeat,
      childUser,
      entryContext: {
        path: home,
        folder: childUser?.home ?? process.cwd(),
        folderOfGateway: true,
        cannotConfine: (sandbox) => cannotConfine(sandbox, childUser),
        env: environmentOf(childUser, process.env),
        skillFolders: settings.skillsDir.map((folder) => resolve(folder)),
        secretRules: {},
      },
      http: {
        host,
        port,
        tls: tls ? { cert: tlsCert, key: tlsKey } : undefined,
        log,
        accessLog: settings.accessLog ? { addressOf: addressReader(settings.trustProxy) } : undefined,
        allowHosts: [...settings.allowHost, ...(publicUrl === undefined ? [] : [new URL(publicUrl).host])],
        allowOrigins: [
          ...settings.allowOrigin,
          ...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]),
        ],
      },
      publicUrl,
      replicaAddress: settings.replicaAddress,
      adminToken,
      oidc: oidcOf(settings),
      trustProxy: settings.trustProxy,
      audit: {
        file: settings.auditFile,
        days: settings.auditDays,
        unwritten: join(home, "gateway", "audit-unwritten.jsonl"),
      },
      metricsPort: settings.metricsPort,
      registry,
      middlewareDir: settings.middlewareDir,
      console: !settings.noConsole,
      otel: otelIn(env),
      admin: (parts) => createAdmin({ ...parts, log, trustProxy: settings.trustProxy }),
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Refuses invalid settings before anything is opened. */
function check(settings: ServeSettings): void {
  const { host, tls, publicUrl, insecure, adminToken } = settings;
  if (adminToken !== undefined && adminToken.length < MIN_TOKEN_LENGTH)
    throw new UsageError(
      `METAMCP_ADMIN_TOKEN has ${adminToken.length} characters and needs at least ${MIN_TOKEN_LENGTH}. To create one: openssl rand -hex 32`,
    );
  if (publicUrl !== undefined && !/^https?:\/\/[^/]+\/?$/.test(publicUrl))
    throw new UsageError("--public-url must be http:// or https:// and a host, without a path.");
  if (settings.open && settings.noConsole)
    throw new UsageError("--open needs the console: remove --no-console.");
  checkProxies(settings.trustProxy);
  checkReplica(settings);
  oidcOf(settings);
  const safe = isLoopback(host) || tls || publicUrl?.startsWith("https://") || insecure;
  if (!safe)
    throw new UsageError(
      `--host ${host} can be reached from other machines: use --tls, --public-url https://… behind a TLS proxy, or --insecure.`,
    );
}

/** With other replicas a stop takes longer, so that load balancers notice it and calls need not end. */
function drainOf({ drain, drainCalls, replicaAddress }: ServeSettings) {
  const isReplica = replicaAddress !== undefined;
  return { drain: drain ?? (isReplica ? 5_000 : 0), drainCalls: drainCalls ?? (isReplica ? 30_000 : 5_000) };
}

function otelIn(env: Env): ReturnType<typeof otelEnvironment> {
  try {
    return otelEnvironment(env);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Undefined if only accounts of this gateway can log in. */
function oidcOf(settings: ServeSettings): OidcSettings | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = settings;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined)
    throw new UsageError("--oidc-issuer and --oidc-client-id must be used together.");
  if (!URL.canParse(issuer)) throw new UsageError(`--oidc-issuer is "${issuer}", but must be a URL.`);
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
    throw new UsageError("--oidc-issuer must be an https URL.");
  return {
    issuer,
    clientId,
    clientSecret,
    scopes: scopesOf(settings.oidcScope),
    groupsClaim: settings.oidcGroupsClaim,
    adminGroup: settings.oidcAdminGroup,
    allowGroups: settings.oidcAllowGroup,
    callback: settings.oidcCallback,
  };
}

/** A variable may name several, separated by commas or spaces. */
function scopesOf(named: readonly string[]): readonly string[] {
  const scopes = named.flatMap((text) => text.split(/[\s]+/)).filter(Boolean);
  const wrong = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (wrong !== undefined) throw new UsageError(`--oidc-scope: "${wrong}" is not a scope.`);
  return scopes;
}

/** The address must be one that other machines can use, so it cannot stand for all addresses of this one. */
function checkReplica({ replicaAddress: address, store = "" }: ServeSettings): void {
  if (address === undefined) return;
  const [, host = "", port] = /^(\[[\da-fA-F:]+\]|[^\s:/]+):(\d{1,5})$/.exec(address) ?? [];
  if (host === "" || Number(port) > 65_535)
    throw new UsageError(`--replica-address is "${address}", but must be HOST:PORT.`);
  if (["0.0.0.0", "[::]", "[::0]"].includes(host))
    throw new UsageError(
      `--replica-address ${address} is no address that other replicas can reach: name one of this machine.`,
    );
  if (!/^postgres(ql)?:/.test(store))
    throw new UsageError("--replica-address needs a Postgres store: set --store postgres://…");
}

function checkProxies(trusted: readonly string[]): void {
  try {
    addressReader(trusted);
  } catch (error) {
    throw new UsageError(`--trust-proxy: ${(error as Error).message}.`);
  }
}

function warnAboutPublicEndpoints(
  { host, publicUrl }: ServeSettings,
  control: GatewayControl,
  log: Log,
): void {
  if (isLoopback(host) && publicUrl === undefined) return;
  for (const { object } of control.compiled.paths.values())
    if (object.spec.access.public)
      log.warn(`endpoint "${object.name}" is public: anyone who can reach it can use it`);
}
