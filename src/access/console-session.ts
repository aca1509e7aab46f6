/**
 * Console sessions: the cookies of people who are logged in. Each login creates a new token; only its hash is
 * stored. A session is valid for the admin API and the console, never for an endpoint. A request that changes
 * something with a cookie must come from a page of this gateway.
 */

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { keyedHash } from "../kernel/keyed-hash.ts";
import type { Store } from "../store/store.ts";
import type { Account, AccountDirectory } from "./account.ts";
import { cookieName, cookieValues, setCookie } from "./cookies.ts";
import type { ProviderLogin } from "./identity-provider.ts";
import { Mirror } from "./mirror.ts";

/** The kind of record. */
export const CONSOLE_SESSION = "console-session";

const LIFETIME_MS = 12 * 60 * 60_000;
const TOKEN_BYTES = 32;
const NAME = "metamcp";

interface Stored {
  /** Its uuid. */
  readonly account: string;
  /** Hash of the password hash at login. After a password change it differs, so older sessions end. */
  readonly password: string;
  readonly createdAt: string;
  readonly expiresAt: number;
  /** Id of the session at the identity provider. */
  readonly sid?: string;
  /** The id token of the identity provider, sealed. It ends the session there. */
  readonly idToken?: string;
}

export interface ConsoleSessionsOptions {
  /**
   * The address of the gateway for browsers. Without it, origins are compared with the Host header, because
   * cookies are bound to the host.
   */
  readonly publicUrl?: string | undefined;
  /** Without `publicUrl`: whether the gateway itself serves HTTPS. */
  readonly https: boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

type Headers = Pick<IncomingHttpHeaders, "cookie" | "origin" | "host">;

export class ConsoleSessions {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #accounts: AccountDirectory;
  readonly #pepper: Buffer;
  readonly #now: () => number;
  readonly #mirror: Mirror<Stored>;
  readonly #origin: string | undefined;
  readonly #secure: boolean;

  constructor(
    store: Pick<Store, "records" | "sealer">,
    accounts: AccountDirectory,
    { publicUrl, https, now = Date.now }: ConsoleSessionsOptions,
  ) {
    this.#store = store;
    this.#accounts = accounts;
    this.#pepper = store.sealer.derive("console-sessions");
    this.#now = now;
    this.#mirror = new Mirror(store, CONSOLE_SESSION);
    this.#origin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
    this.#secure = this.#origin?.startsWith("https:") ?? https;
  }

  load(): Promise<void> {
    return this.#mirror.load();
  }

  /** Starts a session and returns the value of `Set-Cookie`. The session of the request, if any, ends. */
  async begin(
    account: Account,
    headers: Headers,
    { sid, idToken }: Pick<ProviderLogin, "sid" | "idToken"> = {},
  ): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const expiresAt = this.#now() + LIFETIME_MS;
    const createdAt = new Date(this.#now()).toISOString();
    const password = this.#hash(account.password ?? "");
    const value: Stored = {
      account: account.uuid,
      password,
      createdAt,
      expiresAt,
      ...(sid === undefined ? {} : { sid }),
      ...(idToken === undefined ? {} : { idToken: this.#store.sealer.seal(idToken) }),
    };
    const before = this.#tokens(headers).map((shown) => this.#hash(shown));
    await this.#store.records.write([
      { put: { kind: CONSOLE_SESSION, id: this.#hash(token), value, expiresAt, ifVersion: 0 } },
      ...before
        .filter((id) => this.#mirror.values.has(id))
        .map((id) => ({ delete: { kind: CONSOLE_SESSION, id } })),
    ]);
    await this.load();
    return setCookie(this.#name, token, LIFETIME_MS / 1_000);
  }

  /** The account of the session cookie. Undefined without a valid cookie, or if the account is disabled. */
  of(headers: Headers): Account | undefined {
    for (const token of this.#tokens(headers)) {
      const session = this.#mirror.values.get(this.#hash(token));
      if (!session || session.expiresAt <= this.#now()) continue;
      const account = this.#accounts.byId(session.account);
      if (account && !account.disabled && session.password === this.#hash(account.password ?? ""))
        return account;
    }
    return undefined;
  }

  /** Whether the request has a cookie of a session, valid or not. */
  isShown(headers: Headers): boolean {
    return this.#tokens(headers).length > 0;
  }

  /** The id token of the session of the request, if it began at the identity provider. */
  idTokenOf(headers: Headers): string | undefined {
    const sealed = this.#tokens(headers)
      .map((token) => this.#mirror.values.get(this.#hash(token))?.idToken)
      .find((text) => text !== undefined);
    return sealed === undefined ? undefined : this.#store.sealer.open(sealed);
  }

  /** Ends the session of the request. Returns the value of `Set-Cookie` that deletes the cookie. */
  async end(headers: Headers): Promise<string> {
    for (const token of this.#tokens(headers))
      await this.#store.records.delete(CONSOLE_SESSION, this.#hash(token));
    await this.load();
    return setCookie(this.#name, "", 0);
  }

  /**
   * Ends all sessions of an account, or only those of one session at the identity provider. Returns the
   * accounts whose sessions ended.
   */
  async endOf(account: string | undefined, sid?: string): Promise<readonly string[]> {
    await this.load();
    const ended = [...this.#mirror.values].filter(
      ([, session]) =>
        (account === undefined || session.account === account) && (sid === undefined || session.sid === sid),
    );
    if (ended.length === 0 || (account === undefined && sid === undefined)) return [];
    await this.#store.records.write(ended.map(([id]) => ({ delete: { kind: CONSOLE_SESSION, id } })));
    await this.load();
    return ended.map(([, session]) => session.account);
  }

  /** Whether the Origin header names a page of this gateway. False without the header. */
  isOwnPage({ origin, host }: Headers): boolean {
    if (origin === undefined || host === undefined) return false;
    if (this.#origin !== undefined && origin === this.#origin) return true;
    return ownOrigins(host, this.#secure).includes(origin.toLowerCase());
  }

  #hash(token: string): string {
    return keyedHash(this.#pepper, token);
  }

  get #name(): string {
    return cookieName(NAME, this.#secure);
  }

  #tokens(headers: Headers): readonly string[] {
    return cookieValues(headers, this.#name).filter((value) => /^[\w-]{43}$/.test(value));
  }
}

/** The origins of pages at this Host header. `URL` removes the default port of each scheme. */
function ownOrigins(host: string, secure: boolean): readonly string[] {
  const schemes = secure ? ["https:"] : ["http:", "https:"];
  const addresses = schemes.map((scheme) => `${scheme}//${host}`).filter((address) => URL.canParse(address));
  return addresses.map((address) => new URL(address).origin);
}
