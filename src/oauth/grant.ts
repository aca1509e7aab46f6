/** What a login leaves behind, as values. Knows no file and no network. */
import { isRecord } from "../kernel/is-record.ts";

/** Where tokens of one issuer are got, renewed and taken back: the part of its metadata that is needed after the login. */
export interface Issuer {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string | undefined;
  readonly response_types_supported: string[];
  readonly token_endpoint_auth_methods_supported?: string[] | undefined;
}

/** Who we are to an issuer. */
export interface ClientId {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

/** A client that an issuer registered for us. It knows us by this address alone. */
export interface Registration {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly client: ClientId;
  /** Milliseconds since 1970, where the secret ends at all. */
  readonly expiresAt?: number | undefined;
}

/** The outcome of one login: tokens of one issuer, for one account, at one address. */
export interface Grant {
  readonly url: string;
  readonly account: string;
  /** Of this one login: nobody else has it, not even the same account later on. */
  readonly id: string;
  readonly issuer: Issuer;
  readonly client: ClientId;
  /** The client stands in the config: its secret is taken from there and not kept here. */
  readonly configured: boolean;
  /** The resource indicator, as the server writes it. */
  readonly resource?: string | undefined;
  readonly accessToken: string;
  /** Gone once the issuer has refused it. */
  readonly refreshToken?: string | undefined;
  readonly scopes: readonly string[];
  /** Scopes the server asked for later: the next login asks for them too. */
  readonly wanted?: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly obtainedAt: number;
  /** Undefined where the issuer does not say. */
  readonly expiresAt?: number | undefined;
}

/** All that is kept about one server. */
export interface Book {
  readonly version: 1;
  /** By address of the server: the account that is used there. */
  readonly use: Readonly<Record<string, string>>;
  readonly grants: readonly Grant[];
  readonly registrations: readonly Registration[];
}

export const EMPTY_BOOK: Book = { version: 1, use: {}, grants: [], registrations: [] };

export const DEFAULT_ACCOUNT = "default";

/** The grant that is used at this address. */
export function grantInUse(book: Book, url: string): Grant | undefined {
  const account = Object.hasOwn(book.use, url) ? book.use[url] : undefined;
  return account === undefined ? undefined : grantOf(book, url, account);
}

export function grantOf(book: Book, url: string, account: string): Grant | undefined {
  return book.grants.find((grant) => grant.url === url && grant.account === account);
}

/** In place of the grant of the same account and address, from whichever issuer that came. */
export function withGrant(book: Book, grant: Grant): Book {
  return { ...book, grants: [...othersThan(book, grant), grant] };
}

export function withoutGrant(book: Book, gone: Grant): Book {
  const grants = othersThan(book, gone);
  const use = Object.fromEntries(
    Object.entries(book.use).filter(([url, account]) => url !== gone.url || account !== gone.account),
  );
  // Whoever logs in anew where nobody is logged in may do so because the issuer has forgotten us.
  const registrations = grants.some(({ issuer }) => issuer.issuer === gone.issuer.issuer)
    ? book.registrations
    : book.registrations.filter(({ issuer }) => issuer !== gone.issuer.issuer);
  return { ...book, use, grants, registrations };
}

function othersThan({ grants }: Book, { url, account }: Grant): Grant[] {
  return grants.filter((other) => other.url !== url || other.account !== account);
}

export function using(book: Book, url: string, account: string): Book {
  return { ...book, use: { ...book.use, [url]: account } };
}

export function union(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/** As OAuth writes them; and so many that one login can ask for them. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const MOST_SCOPES = 100;

export function soundScopes(scopes: readonly string[]): string[] {
  return scopes.filter((scope) => SCOPE.test(scope)).slice(0, MOST_SCOPES);
}

/** Renewed this long before the end, so that no request meets it; of a short life a small part only. */
const AHEAD_MS = 60_000;
const AHEAD_PART = 0.2;

export function isDue({ obtainedAt, expiresAt, refreshToken }: Grant, now: number): boolean {
  if (expiresAt === undefined || refreshToken === undefined) return false;
  return now >= expiresAt - Math.min(AHEAD_MS, (expiresAt - obtainedAt) * AHEAD_PART);
}

export function isExpired({ expiresAt }: Grant, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

/** Undefined where the value is no such book. */
export function readBook(value: unknown): Book | undefined {
  if (!isRecord(value) || value["version"] !== 1 || !isRecord(value["use"])) return undefined;
  const { use, grants, registrations } = value;
  const whole =
    Object.values(use as object).every(isText) &&
    Array.isArray(grants) &&
    grants.every(isGrant) &&
    Array.isArray(registrations) &&
    registrations.every(isRegistration);
  return whole ? (value as unknown as Book) : undefined;
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
