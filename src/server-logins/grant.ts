/** The data that a login stores, and pure functions on it. Uses no file and no network. */
import { isRecord } from "../kernel/is-record.ts";

/** The part of an issuer's metadata that is needed after the login: to renew and revoke tokens. */
export interface Issuer {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string | undefined;
  readonly response_types_supported: string[];
  readonly token_endpoint_auth_methods_supported?: string[] | undefined;
}

/** MetaMCP's client identity at an issuer. */
export interface ClientId {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

/** A client that an issuer registered for MetaMCP. It is valid only for this redirect address. */
export interface Registration {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly client: ClientId;
  /** Milliseconds since 1970; undefined if the secret does not expire. */
  readonly expiresAt?: number | undefined;
}

/** The result of one login: tokens of one issuer, for one account, at one address. */
export interface Grant {
  readonly url: string;
  readonly account: string;
  /** Unique for each login, also of the same account. */
  readonly id: string;
  readonly issuer: Issuer;
  readonly client: ClientId;
  /** True if the client comes from the config. Its secret is read from there and not stored here. */
  readonly configured: boolean;
  /** The resource indicator, exactly as in the server's metadata. */
  readonly resource?: string | undefined;
  readonly accessToken: string;
  /** Removed after the issuer has rejected it. */
  readonly refreshToken?: string | undefined;
  readonly scopes: readonly string[];
  /** Scopes that the server required after the login; the next login requests them too. */
  readonly wanted?: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly obtainedAt: number;
  /** Undefined if the issuer does not return it. */
  readonly expiresAt?: number | undefined;
}

/** Everything that is stored about the logins at one server. */
export interface LoginData {
  readonly version: 1;
  /** The account in use, by address of the server. */
  readonly use: Readonly<Record<string, string>>;
  readonly grants: readonly Grant[];
  readonly registrations: readonly Registration[];
}

export const EMPTY_LOGIN_DATA: LoginData = { version: 1, use: {}, grants: [], registrations: [] };

export const DEFAULT_ACCOUNT = "default";

/** Normalizes an address, because tokens are stored by address. */
export function addressOf(url: string): string {
  return new URL(url).href;
}

/** The grant in use at this address. */
export function grantInUse(loginData: LoginData, url: string): Grant | undefined {
  const account = Object.hasOwn(loginData.use, url) ? loginData.use[url] : undefined;
  return account === undefined ? undefined : grantOf(loginData, url, account);
}

export function grantOf(loginData: LoginData, url: string, account: string): Grant | undefined {
  return loginData.grants.find((grant) => grant.url === url && grant.account === account);
}

/** Replaces the grant of the same account and address, even if another issuer gave it. */
export function withGrant(loginData: LoginData, grant: Grant): LoginData {
  return { ...loginData, grants: [...otherGrants(loginData, grant), grant] };
}

export function withoutGrant(loginData: LoginData, removed: Grant): LoginData {
  const grants = otherGrants(loginData, removed);
  const use = Object.fromEntries(
    Object.entries(loginData.use).filter(
      ([url, account]) => url !== removed.url || account !== removed.account,
    ),
  );
  // With the last grant of an issuer its registrations are dropped too: the issuer may have deleted the
  // client, and then a new login must register again.
  const registrations = grants.some(({ issuer }) => issuer.issuer === removed.issuer.issuer)
    ? loginData.registrations
    : loginData.registrations.filter(({ issuer }) => issuer !== removed.issuer.issuer);
  return { ...loginData, use, grants, registrations };
}

function otherGrants({ grants }: LoginData, { url, account }: Grant): Grant[] {
  return grants.filter((other) => other.url !== url || other.account !== account);
}

export function useAccount(loginData: LoginData, url: string, account: string): LoginData {
  return { ...loginData, use: { ...loginData.use, [url]: account } };
}

export function union(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/**
 * The characters that OAuth allows in a scope. The number is limited, because a login sends all of them in a
 * URL.
 */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const MAX_SCOPES = 100;

export function validScopes(scopes: readonly string[]): string[] {
  return scopes.filter((scope) => SCOPE.test(scope)).slice(0, MAX_SCOPES);
}

/**
 * Tokens are renewed this long before they expire, but at most this part of their lifetime, so that requests
 * do not fail.
 */
const RENEW_AHEAD_MS = 60_000;
const MAX_AHEAD_PART = 0.2;

export function isDue({ obtainedAt, expiresAt }: Grant, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(RENEW_AHEAD_MS, (expiresAt - obtainedAt) * MAX_AHEAD_PART);
}

export function isExpired({ expiresAt }: Grant, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

/** Undefined if the value is not valid login data. */
export function readLoginData(value: unknown): LoginData | undefined {
  if (!isRecord(value) || value["version"] !== 1 || !isRecord(value["use"])) return undefined;
  const { use, grants, registrations } = value;
  const valid =
    Object.values(use as object).every(isText) &&
    Array.isArray(grants) &&
    grants.every(isGrant) &&
    Array.isArray(registrations) &&
    registrations.every(isRegistration);
  return valid ? (value as unknown as LoginData) : undefined;
}

function isGrant(value: unknown): value is Grant {
  if (!isRecord(value)) return false;
  const { url, account, id, issuer, client, accessToken, refreshToken, scopes, obtainedAt, expiresAt } =
    value;
  return (
    [url, account, id, accessToken].every(isText) &&
    isRecord(issuer) &&
    [issuer["issuer"], issuer["token_endpoint"]].every(isText) &&
    isClient(client) &&
    (refreshToken === undefined || isText(refreshToken)) &&
    Array.isArray(scopes) &&
    scopes.every(isText) &&
    typeof obtainedAt === "number" &&
    (expiresAt === undefined || typeof expiresAt === "number")
  );
}

function isRegistration(value: unknown): value is Registration {
  return (
    isRecord(value) && [value["issuer"], value["redirectUri"]].every(isText) && isClient(value["client"])
  );
}

function isClient(value: unknown): boolean {
  return isRecord(value) && isText(value["client_id"]);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
