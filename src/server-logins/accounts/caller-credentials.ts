/**
 * The credentials of each account at servers with per-account access: its login there, and the values of
 * `${user.…}`. Decides from memory. Returns the same spec object while the credential is unchanged, and a new
 * one after a change.
 */

import type { Account, AccountDirectory } from "../../access/account.ts";
import type { UserSecrets } from "../../access/user-secrets.ts";
import { idOf } from "../../config/identity.ts";
import type { ServerSpec } from "../../config/spec.ts";
import { filledIn, secretNamed, userValuesOf } from "../../config/user-values.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { keyedHash } from "../../kernel/keyed-hash.ts";
import { Listeners } from "../../kernel/listeners.ts";
import type { Store } from "../../store/store.ts";
import { addressOf, type Grant, grantInUse, isExpired } from "../grant.ts";
import { openLoginData } from "./login-data-store.ts";
import type { LoginRecords } from "./login-records.ts";

export interface CallerParts {
  readonly store: Pick<Store, "sealer" | "now">;
  readonly accounts: Pick<AccountDirectory, "byId" | "onChange">;
  readonly secrets: Pick<UserSecrets, "open" | "on">;
  readonly records: LoginRecords;
  /** URL of the page where an account logs in to a server. */
  readonly loginPage: (server: string, account: string) => string;
}

/** What an account still needs to use a server. */
export interface MissingCredentials {
  readonly login: boolean;
  /** Names of secrets. */
  readonly secrets: readonly string[];
  /** Reasons that the account cannot fix by entering something, as texts. */
  readonly other: readonly string[];
}

interface CachedOutcome {
  readonly spec: ServerSpec;
  readonly outcome: ServerSpec | MetaMcpError;
  /** The outcome must be computed again from this time on. */
  readonly until: number;
}

/** Cached accounts per server. */
const MAX_CACHED = 5_000;

export class CallerCredentials {
  readonly #parts: CallerParts;
  readonly #pepper: Buffer;
  /** By server, then account. Recomputed when an account, secret or login changes. */
  readonly #cache = new Map<string, Map<string, CachedOutcome>>();
  readonly #listeners = new Listeners<[account: string]>();

  constructor(parts: CallerParts) {
    this.#parts = parts;
    this.#pepper = parts.store.sealer.derive("server-credentials");
    parts.accounts.onChange((uuid) => this.#recheck((_, account) => account === uuid));
    parts.secrets.on(() => this.#recheck(() => true));
    parts.records.on((key) =>
      this.#recheck((server, account) => server === key.server && account === key.account),
    );
  }

  /** Runs when the credentials of an account for any server changed. */
  onChange(listener: (account: string) => void): () => void {
    return this.#listeners.on(listener);
  }

  /**
   * Returns the server with the credentials of the account, or the error for the caller. Runs for every call.
   */
  of(spec: ServerSpec, account: string | undefined): ServerSpec | MetaMcpError {
    if (account === undefined) return accountRequired(spec);
    const server = idOf(spec);
    const cached = this.#cache.get(server)?.get(account);
    if (cached?.spec === spec && this.#parts.store.now() < cached.until) return cached.outcome;
    const found = this.#find(spec, account, cached);
    this.#addToCache(server, account, found);
    return found.outcome;
  }

  /**
   * The server with the values of this account filled in, but without its login. Undefined if a value is
   * missing.
   */
  reached(spec: ServerSpec, account: string): ServerSpec | undefined {
    const who = this.#parts.accounts.byId(account);
    const values = who && !who.disabled ? this.#valuesOf(spec, who) : undefined;
    return values && !("missing" in values) ? filledIn(spec, values.values, account) : undefined;
  }

  missing(spec: ServerSpec, account: string): MissingCredentials {
    const who = this.#parts.accounts.byId(account);
    const values = who && this.#valuesOf(spec, who);
    const { secrets, other } = values && "missing" in values ? values.missing : { secrets: [], other: [] };
    return {
      secrets,
      other,
      login: spec.perAccount === "login" && this.#grantOf(spec, account) === undefined,
    };
  }

  #find(spec: ServerSpec, account: string, cached: CachedOutcome | undefined): CachedOutcome {
    const who = this.#parts.accounts.byId(account);
    if (!who || who.disabled)
      return { spec, outcome: accountRequired(spec), until: Number.POSITIVE_INFINITY };
    const missing = this.missing(spec, account);
    const values = this.#valuesOf(spec, who);
    if (missing.login || "missing" in values)
      return { spec, outcome: this.#refusal(spec, account, missing), until: Number.POSITIVE_INFINITY };
    const grant = this.#grantOf(spec, account);
    const until = grant && grant.refreshToken === undefined ? grant.expiresAt : undefined;
    const shown = JSON.stringify([grant?.id, ...values.values]);
    const stamp = keyedHash(this.#pepper, shown).slice(0, 22);
    const credential = `${account}.${stamp}`;
    const before = cached?.spec === spec && !MetaMcpError.is(cached.outcome) ? cached.outcome : undefined;
    const outcome = before?.credential === credential ? before : filledIn(spec, values.values, credential);
    return { spec, outcome, until: until ?? Number.POSITIVE_INFINITY };
  }

  /** The grant, if it is valid or can be renewed. */
  #grantOf(spec: ServerSpec, account: string): Grant | undefined {
    const login = this.#parts.records.at({ server: idOf(spec), account });
    if (!login || spec.kind === "stdio" || spec.perAccount !== "login") return undefined;
    const grant = grantInUse(openLoginData(this.#parts.store, login), addressOf(spec.url));
    return grant && isExpired(grant, this.#parts.store.now()) && grant.refreshToken === undefined
      ? undefined
      : grant;
  }

  #valuesOf(
    spec: ServerSpec,
    who: Account,
  ):
    | { readonly values: ReadonlyMap<string, string> }
    | { readonly missing: Omit<MissingCredentials, "login"> } {
    const values = new Map<string, string>();
    const secrets: string[] = [];
    const other: string[] = [];
    for (const name of userValuesOf(spec)) {
      const secret = secretNamed(name);
      const value =
        secret === undefined ? accountValue(who, name) : this.#parts.secrets.open(who.uuid, secret);
      if (value !== undefined && canBeSent(spec, value)) values.set(name, value);
      else if (value !== undefined) other.push(`${name} contains a character that cannot be sent`);
      else if (secret !== undefined) secrets.push(secret);
      else other.push("its e-mail address has not been verified");
    }
    return secrets.length + other.length > 0 ? { missing: { secrets, other } } : { values };
  }

  #refusal(
    { name, ...spec }: ServerSpec,
    account: string,
    { login, secrets, other }: MissingCredentials,
  ): MetaMcpError {
    const page = this.#parts.loginPage(idOf({ name, ...spec }), account);
    const wants = [
      ...(login ? ["a login of your own"] : []),
      ...secrets.map((secret) => `your secret ${secret}`),
    ];
    const text =
      wants.length > 0
        ? `${name} requires ${wants.join(" and ")}. Ask the user to open ${page}`
        : `${name} cannot be used by this account: ${other.join("; ")}.`;
    const details = wants.length > 0 ? { login: page } : undefined;
    return new MetaMcpError("auth_required", text, { server: name, ...(details && { details }) });
  }

  #addToCache(server: string, account: string, cached: CachedOutcome): void {
    const accounts = this.#cache.get(server) ?? new Map<string, CachedOutcome>();
    this.#cache.set(server, accounts);
    accounts.delete(account);
    accounts.set(account, cached);
    if (accounts.size > MAX_CACHED) accounts.delete(accounts.keys().next().value as string);
  }

  /** Recomputes outcomes and notifies listeners of those that changed. A renewed token is not a change. */
  #recheck(concerns: (server: string, account: string) => boolean): void {
    const changed = new Set<string>();
    for (const [server, accounts] of this.#cache)
      for (const [account, cached] of accounts) {
        if (!concerns(server, account)) continue;
        const found = this.#find(cached.spec, account, cached);
        accounts.set(account, found);
        if (!isSame(cached.outcome, found.outcome)) changed.add(account);
      }
    for (const account of changed) this.#listeners.emit(account);
  }
}

function isSame(a: ServerSpec | MetaMcpError, b: ServerSpec | MetaMcpError): boolean {
  return MetaMcpError.is(a) && MetaMcpError.is(b) ? a.message === b.message : a === b;
}

/**
 * The value of `${user.id}` or `${user.email}`. An address that an external issuer has not verified is not
 * used, because it could be another person's.
 */
function accountValue({ uuid, email, identity, emailVerified }: Account, value: string): string | undefined {
  if (value === "id") return uuid;
  return identity === undefined || emailVerified ? email : undefined;
}

function canBeSent({ kind }: ServerSpec, value: string): boolean {
  return kind === "stdio" ? !value.includes("\0") : /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function accountRequired({ name }: ServerSpec): MetaMcpError {
  return new MetaMcpError(
    "auth_required",
    `${name} requires an account: use an API key that belongs to an account, or log in with OAuth.`,
    { server: name },
  );
}
