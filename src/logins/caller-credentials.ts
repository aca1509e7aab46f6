/**
 * What each account is let in with at servers that know it: its login there, and what `${user.…}` stands for. Decides from
 * memory; the same spec is given for the same credential, and another one at the next call after it changed.
 */
import { createHmac } from "node:crypto";
import type { Account, AccountDirectory } from "../access/account.ts";
import type { UserSecrets } from "../access/user-secrets.ts";
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import { filledIn, secretNamed, userValuesOf } from "../config/user-values.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { addressOf } from "../oauth/authorizations.ts";
import { type Grant, grantInUse, isExpired } from "../oauth/grant.ts";
import type { Store } from "../store/store.ts";
import { opened } from "./kept-book.ts";
import type { LoginRecords } from "./login-records.ts";

export interface CallerParts {
  readonly store: Pick<Store, "sealer">;
  readonly accounts: Pick<AccountDirectory, "byId" | "onChange">;
  readonly secrets: Pick<UserSecrets, "open" | "on">;
  readonly records: LoginRecords;
  /** The page where an account logs in at a server. */
  readonly loginPage: (server: string, account: string) => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** What an account lacks. */
export interface Lacking {
  readonly login: boolean;
  /** Names of secrets. */
  readonly secrets: readonly string[];
  /** What nobody can enter, in words. */
  readonly other: readonly string[];
}

interface Known {
  readonly spec: ServerSpec;
  readonly outcome: ServerSpec | MetaMcpError;
  /** It has to be looked at again from this time on. */
  readonly until: number;
}

/** Accounts that are remembered, of one server; of others it is found out again. */
const MOST_KNOWN = 5_000;

export class CallerCredentials {
  readonly #parts: CallerParts;
  readonly #pepper: Buffer;
  readonly #now: () => number;
  /** By server, then account. Forgotten when something of theirs changed. */
  readonly #known = new Map<string, Map<string, Known>>();
  readonly #listeners = new Set<(account: string) => void>();

  constructor(parts: CallerParts) {
    this.#parts = parts;
    this.#pepper = parts.store.sealer.derive("server-credentials");
    this.#now = parts.now ?? Date.now;
    parts.accounts.onChange((uuid) => this.#recheck((_, account) => account === uuid));
    parts.secrets.on(() => this.#recheck(() => true));
    parts.records.on((place) =>
      this.#recheck((server, account) => server === place.server && account === place.account),
    );
  }

  /** Runs when an account is let in somewhere otherwise than before. */
  onChange(listener: (account: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Every call comes by. */
  of(spec: ServerSpec, account: string | undefined): ServerSpec | MetaMcpError {
    if (account === undefined) return nobody(spec);
    const server = idOf(spec);
    const known = this.#known.get(server)?.get(account);
    if (known?.spec === spec && this.#now() < known.until) return known.outcome;
    const found = this.#find(spec, account, known);
    this.#remember(server, account, found);
    return found.outcome;
  }

  /** The server as this account reaches it but for a login; undefined where something else is missing. */
  reached(spec: ServerSpec, account: string): ServerSpec | undefined {
    const who = this.#parts.accounts.byId(account);
    const values = who && !who.disabled ? this.#valuesOf(spec, who) : undefined;
    return values && !("lacking" in values) ? filledIn(spec, values.values, account) : undefined;
  }

  lacking(spec: ServerSpec, account: string): Lacking {
    const who = this.#parts.accounts.byId(account);
    const values = who && this.#valuesOf(spec, who);
    const { secrets, other } = values && "lacking" in values ? values.lacking : { secrets: [], other: [] };
    return {
      secrets,
      other,
      login: spec.perAccount === "login" && this.#grantOf(spec, account) === undefined,
    };
  }

  #find(spec: ServerSpec, account: string, known: Known | undefined): Known {
    const who = this.#parts.accounts.byId(account);
    if (!who || who.disabled) return { spec, outcome: nobody(spec), until: Number.POSITIVE_INFINITY };
    const lacking = this.lacking(spec, account);
    const values = this.#valuesOf(spec, who);
    if (lacking.login || "lacking" in values)
      return { spec, outcome: this.#refusal(spec, account, lacking), until: Number.POSITIVE_INFINITY };
    const grant = this.#grantOf(spec, account);
    const until = grant && grant.refreshToken === undefined ? grant.expiresAt : undefined;
    const shown = JSON.stringify([grant?.id, ...values.values]);
    const stamp = createHmac("sha256", this.#pepper).update(shown).digest("base64url").slice(0, 22);
    const credential = `${account}.${stamp}`;
    const before = known?.spec === spec && !MetaMcpError.is(known.outcome) ? known.outcome : undefined;
    const outcome = before?.credential === credential ? before : filledIn(spec, values.values, credential);
    return { spec, outcome, until: until ?? Number.POSITIVE_INFINITY };
  }

  /** One that can be shown, as far as is known here. */
  #grantOf(spec: ServerSpec, account: string): Grant | undefined {
    const login = this.#parts.records.at({ server: idOf(spec), account });
    if (!login || spec.kind === "stdio" || spec.perAccount !== "login") return undefined;
    const grant = grantInUse(opened(this.#parts.store, login), addressOf(spec.url));
    return grant && isExpired(grant, this.#now()) && grant.refreshToken === undefined ? undefined : grant;
  }

  #valuesOf(
    spec: ServerSpec,
    who: Account,
  ): { readonly values: ReadonlyMap<string, string> } | { readonly lacking: Omit<Lacking, "login"> } {
    const values = new Map<string, string>();
    const secrets: string[] = [];
    const other: string[] = [];
    for (const name of userValuesOf(spec)) {
      const secret = secretNamed(name);
      const value = secret === undefined ? told(who, name) : this.#parts.secrets.open(who.uuid, secret);
      if (value !== undefined && canBeSent(spec, value)) values.set(name, value);
      else if (value !== undefined) other.push(`${name} contains a character that cannot be sent`);
      else if (secret !== undefined) secrets.push(secret);
      else other.push("its e-mail address has not been verified");
    }
    return secrets.length + other.length > 0 ? { lacking: { secrets, other } } : { values };
  }

  #refusal({ name, ...spec }: ServerSpec, account: string, { login, secrets, other }: Lacking): MetaMcpError {
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

  #remember(server: string, account: string, known: Known): void {
    const accounts = this.#known.get(server) ?? new Map<string, Known>();
    this.#known.set(server, accounts);
    accounts.delete(account);
    accounts.set(account, known);
    if (accounts.size > MOST_KNOWN) accounts.delete(accounts.keys().next().value as string);
  }

  /** Tells of what is another than it was. A renewed token is not. */
  #recheck(concerns: (server: string, account: string) => boolean): void {
    const changed = new Set<string>();
    for (const [server, accounts] of this.#known)
      for (const [account, known] of accounts) {
        if (!concerns(server, account)) continue;
        const found = this.#find(known.spec, account, known);
        accounts.set(account, found);
        if (!isSame(known.outcome, found.outcome)) changed.add(account);
      }
    for (const account of changed) for (const listener of this.#listeners) listener(account);
  }
}

function isSame(a: ServerSpec | MetaMcpError, b: ServerSpec | MetaMcpError): boolean {
  return MetaMcpError.is(a) && MetaMcpError.is(b) ? a.message === b.message : a === b;
}

/** What an outside issuer says of an address, without having checked it, could name anybody. */
function told({ uuid, email, identity, emailVerified }: Account, value: string): string | undefined {
  if (value === "id") return uuid;
  return identity === undefined || emailVerified ? email : undefined;
}

function canBeSent({ kind }: ServerSpec, value: string): boolean {
  return kind === "stdio" ? !value.includes("\0") : /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function nobody({ name }: ServerSpec): MetaMcpError {
  return new MetaMcpError(
    "auth_required",
    `${name} requires an account: use an API key that belongs to an account, or log in with OAuth.`,
    { server: name },
  );
}
