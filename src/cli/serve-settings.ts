/** Checks the settings of `metamcp serve` that depend on each other, and derives others from them. */
import { addressReader } from "../access/client-address.ts";
import type { OidcSettings } from "../access/identity-provider.ts";
import { type FlagValues, UsageError } from "../config/command-line.ts";
import type { Settings } from "../config/flags.ts";
import type { SERVE_FLAGS } from "../config/gateway-flags.ts";
import type { Env } from "../home/home.ts";
import { otelEnvironment } from "../observe/traces/otel-environment.ts";
import { isLoopback } from "../transport/http/guard.ts";

export type ServeSettings = Settings & FlagValues<typeof SERVE_FLAGS>;

const MIN_TOKEN_LENGTH = 32;

/** Refuses invalid settings before anything is opened. */
export function checkServe(settings: ServeSettings): void {
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
export function drainOf({ drain, drainCalls, replicaAddress }: ServeSettings) {
  const isReplica = replicaAddress !== undefined;
  return { drain: drain ?? (isReplica ? 5_000 : 0), drainCalls: drainCalls ?? (isReplica ? 30_000 : 5_000) };
}

export function otelIn(env: Env): ReturnType<typeof otelEnvironment> {
  try {
    return otelEnvironment(env);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Undefined if only accounts of this gateway can log in. */
export function oidcOf(settings: ServeSettings): OidcSettings | undefined {
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
