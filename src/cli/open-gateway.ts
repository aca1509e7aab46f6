/**
 * Opens the gateway of `metamcp serve` from its settings. Touches nothing that belongs to the whole process:
 * signals, standard streams, the environment of the process and its folder are of the caller.
 */
import { join, resolve } from "node:path";
import { addressReader } from "../access/client-address.ts";
import type { ChildUser } from "../child/child-user.ts";
import { environmentOf } from "../child/stdio/environment.ts";
import { emptyConfig } from "../config/check.ts";
import { cannotConfine } from "../config/confinable.ts";
import type { SERVE_FLAGS } from "../config/gateway-flags.ts";
import type { ReadSettings } from "../config/settings.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import type { GatewayControl } from "../gateway/control.ts";
import { type Env, homeFolder } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { checkAuditFile } from "../observe/audit/audit-file.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import { createGateway, type Gateway } from "../serving/gateway.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { isLoopback } from "../transport/http/guard.ts";
import { chooseSearch } from "./choose-search.ts";
import { executorChoice } from "./engine.ts";
import { forget } from "./own-secrets.ts";
import { registryOf } from "./registry.ts";
import { childUserOf } from "./serve-child-user.ts";
import { addSkillsServer, applyStartFiles, readStartFiles } from "./serve-files.ts";
import { checkServe, drainOf, oidcOf, otelIn, type ServeSettings } from "./serve-settings.ts";

export type GivenToServe = ReadSettings<typeof SERVE_FLAGS>;

export interface OpenedGateway {
  readonly gateway: Gateway;
  /** The user that its local servers run as; undefined if that is the user of this process. */
  readonly childUser: ChildUser | undefined;
}

export interface Surroundings {
  /** All variables, with the secrets of MetaMCP. */
  readonly env: Env;
  /** The variables that servers can inherit. Secrets that only the gateway needs are removed from it. */
  readonly inherited: NodeJS.ProcessEnv;
  /** Where local servers start, unless they run as another user. */
  readonly folder: string;
  readonly log: Log;
}

const OTEL_SECRETS = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

/** Resolves with a gateway that has taken the files of its flags and does not listen yet. */
export async function openGateway(given: GivenToServe, around: Surroundings): Promise<OpenedGateway> {
  const { settings, warnings } = given;
  const { env, inherited, log } = around;
  checkServe(settings);
  forget(inherited, ["PGPASSWORD", ...OTEL_SECRETS, settings.embedderKeyEnv]);
  const home = homeFolder(env);
  for (const warning of warnings) log.warn(warning);
  const registry = registryOf(given);
  const files = await readStartFiles(settings);
  if (settings.auditFile !== undefined) await checkAuditFile(settings.auditFile);
  const url = settings.store ?? `file:${home}/gateway/gateway.db`;
  const childUser = await childUserOf(settings, home, inherited);
  const store = await openStore({ url, home, env, clock, log });
  const gateway = await gatewayOn(store, given, { ...around, home, childUser, registry }).catch(
    async (error) => {
      await store.close();
      throw error;
    },
  );
  try {
    await applyStartFiles(gateway.control, files, log);
    if (settings.skillsDir.length > 0) await addSkillsServer(gateway.control);
  } catch (error) {
    await gateway.close();
    throw error;
  }
  warnAboutPublicEndpoints(settings, gateway.control, log);
  return { gateway, childUser };
}

interface Opening extends Surroundings {
  readonly home: string;
  readonly childUser: ChildUser | undefined;
  readonly registry: RegistrySource | undefined;
}

async function gatewayOn(
  store: Store,
  { settings, overrides }: GivenToServe,
  { env, inherited, folder, log, home, childUser, registry }: Opening,
): Promise<Gateway> {
  const config = emptyConfig(home, overrides);
  const { host, port, tls, tlsCert = "", tlsKey = "", publicUrl, adminToken } = settings;
  const { createAdmin } = await import("../admin/admin.ts");
  return await createGateway({
    store,
    log,
    home,
    inherited,
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
      folder: childUser?.home ?? folder,
      folderOfGateway: true,
      cannotConfine: (sandbox) => cannotConfine(sandbox, childUser),
      env: environmentOf(childUser, inherited),
      skillFolders: settings.skillsDir.map((path) => resolve(path)),
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
