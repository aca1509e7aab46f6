/**
 * Asks the identity provider again about people who are logged in: every hour, and when they get new OAuth
 * tokens. Needs a refresh token of the provider, which is stored sealed. Ends the access of people who lost
 * their groups or their login there.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import { StoreError } from "../store/error.ts";
import type { Store, StoredRecord } from "../store/store.ts";
import type { Account } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import type { ConsoleSessions } from "./console-session.ts";
import type { IdentityProvider, ProviderLogin } from "./identity-provider.ts";
import type { ProviderLogout } from "./logout-token.ts";
import { allRecords } from "./mirror.ts";

/** The kind of record. Its id is the uuid of the account. */
export const IDENTITY_LOGIN = "identity-login";

const HOUR_MS = 60 * 60_000;
const ROUND_MS = 5 * 60_000;
/** Longer than the provider may take to answer. */
const CLAIM_MS = 60_000;

interface Stored {
  /** The refresh token. */
  readonly sealed: string;
  readonly checkedAt: number;
  /** A gateway uses the refresh token until then, or until it stores the next one. */
  readonly claimedUntil?: number;
}

export interface IdentityCheckParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly accounts: Accounts;
  readonly sessions: Pick<ConsoleSessions, "endOf">;
  readonly provider: IdentityProvider;
  /** Revokes all OAuth grants of an account. */
  readonly revoke: (account: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly events?: Pick<Events, "emit"> | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class IdentityChecks {
  readonly #parts: IdentityCheckParts;
  readonly #now: () => number;
  readonly #running = new Map<string, Promise<void>>();
  #timer: Timer | undefined;

  constructor(parts: IdentityCheckParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  start(): void {
    this.#timer = this.#parts.clock.after(ROUND_MS, () => {
      void this.round()
        .catch((error: Error) => this.#parts.log.warn(`logins could not be checked: ${error.message}`))
        .finally(() => this.#timer && this.start());
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Remembers a new login. Without a refresh token the provider cannot be asked again. */
  async begun({ uuid }: Account, { refreshToken }: ProviderLogin): Promise<void> {
    const { records } = this.#parts.store;
    if (refreshToken === undefined) await records.delete(IDENTITY_LOGIN, uuid);
    else await records.put({ kind: IDENTITY_LOGIN, id: uuid, value: this.#value(refreshToken) });
  }

  /** Checks all logins whose last check is an hour ago, one after the other. */
  async round(): Promise<void> {
    for (const { id, value } of await allRecords(this.#parts.store, IDENTITY_LOGIN))
      if ((value as unknown as Stored).checkedAt <= this.#now() - HOUR_MS) await this.check(id);
  }

  /** Checks one account now. Does nothing if the provider cannot be asked about it, or does not answer. */
  check(account: string): Promise<void> {
    const running =
      this.#running.get(account) ?? this.#check(account).finally(() => this.#running.delete(account));
    this.#running.set(account, running);
    return running;
  }

  /** The provider ended a session, or all sessions of a person. */
  async loggedOut({ issuer, subject, sid }: ProviderLogout): Promise<void> {
    const { accounts, sessions, store, revoke } = this.#parts;
    const account = subject === undefined ? undefined : accounts.byIdentity(issuer, subject);
    if (subject !== undefined && !account) return;
    const ended = await sessions.endOf(account?.uuid, sid);
    for (const uuid of new Set([...(account ? [account.uuid] : []), ...ended])) {
      const checkable = await store.records.get(IDENTITY_LOGIN, uuid);
      // If the provider cannot be asked whether the person may still enter, OAuth clients must log in again
      // too.
      await (checkable ? this.check(uuid) : revoke(uuid));
    }
  }

  async #check(uuid: string): Promise<void> {
    const { accounts, provider, log } = this.#parts;
    const account = accounts.byId(uuid);
    const record = await this.#claim(uuid);
    if (!record || !account?.identity) return;
    try {
      const renewed = await provider.renew(this.#open(record), account.identity);
      // If the person has logged in again meanwhile, that counts more than the login that was checked.
      if (!(await this.#isCurrent(record))) return;
      if (!renewed)
        return await this.#end(account, record, "the identity provider ended the login", provider.isOffline);
      // Stored before anything else can fail: the token that was used may be invalid now.
      const next = await this.#replace(record, this.#value(renewed.refreshToken));
      const identity = next && (await renewed.identity());
      if (!identity || !(await this.#isCurrent(next))) return;
      if (!provider.mayEnter(identity))
        return await this.#end(account, next, "none of the groups may use this gateway any more", true);
      if (!account.disabled) await accounts.ofIdentity(provider.withRole(identity, account));
    } catch (error) {
      log.warn(
        `the identity provider could not be asked about ${account.email}: ${(error as Error).message}`,
      );
    }
  }

  /** Takes the turn, so that no other gateway on the store uses the refresh token at the same time. */
  async #claim(uuid: string): Promise<StoredRecord | undefined> {
    const { records } = this.#parts.store;
    const record = await records.get(IDENTITY_LOGIN, uuid);
    const stored = record?.value as unknown as Stored | undefined;
    if (!record || !stored || (stored.claimedUntil ?? 0) > this.#now()) return undefined;
    const { sealed } = stored;
    const value = { sealed, checkedAt: this.#now(), claimedUntil: this.#now() + CLAIM_MS } satisfies Stored;
    return await this.#replace(record, value);
  }

  /** Undefined if the record has changed since it was read. */
  async #replace({ kind, id, version }: StoredRecord, value: StoredRecord["value"]) {
    return await this.#parts.store.records.put({ kind, id, value, ifVersion: version }).catch(ignoreConflict);
  }

  async #isCurrent({ kind, id, version }: StoredRecord): Promise<boolean> {
    return (await this.#parts.store.records.get(kind, id))?.version === version;
  }

  /** With `keys`, API keys of the account stop too, until the next login. */
  async #end(account: Account, record: StoredRecord, reason: string, keys: boolean): Promise<void> {
    const { accounts, sessions, store, revoke, log, events, provider } = this.#parts;
    const { uuid, email: name } = account;
    if (keys) await accounts.suspend(uuid);
    await Promise.all([sessions.endOf(uuid), revoke(uuid)]);
    // Last, so that the next round tries again if something fails before.
    const { kind, id, version } = record;
    await store.records.write([{ delete: { kind, id, ifVersion: version } }]).catch(ignoreConflict);
    log.info(`access of ${name} ended: ${reason}`);
    const principal = {
      id: provider.host,
      kind: "token",
      name: provider.host,
      roles: [],
      groups: [],
    } as const;
    const action = keys ? "suspend" : "end-logins";
    const object = { kind: "user", uuid, name };
    events?.emit({ type: "admin", at: this.#now(), principal, action, object, outcome: "ok" });
  }

  #value(refreshToken: string): StoredRecord["value"] {
    const sealed = this.#parts.store.sealer.seal(refreshToken);
    return { sealed, checkedAt: this.#now() } satisfies Stored;
  }

  #open({ value }: StoredRecord): string {
    return this.#parts.store.sealer.open((value as unknown as Stored).sealed);
  }
}

function ignoreConflict(error: unknown): undefined {
  if (!StoreError.is(error, "conflict")) throw error;
  return undefined;
}
