/** The accounts of a gateway: looked up in memory, changed in the store. Knows passwords, sends no mail. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { StoreError } from "../store/error.ts";
import type { RecordChange, Store } from "../store/store.ts";
import {
  ACCOUNT,
  type Account,
  type AccountDirectory,
  emailKey,
  type OutsideIdentity,
  type Role,
} from "./account.ts";
import { AccountTurns } from "./account-turns.ts";
import { AccessError } from "./error.ts";
import { Mirror } from "./mirror.ts";
import { hashPassword, isPassword } from "./password.ts";
import { LoginThrottle } from "./throttle.ts";

export interface AccountsOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly newId: () => string;
  /** There is another way in for an administrator, so the last account of one may go. */
  readonly adminToken: boolean;
}

export interface NewAccount {
  readonly email: string;
  readonly role: Role;
  readonly groups?: readonly string[];
  readonly password?: string;
}

export type AccountChange = Partial<Pick<Account, "email" | "role" | "groups" | "disabled">> & {
  readonly password?: string;
};

type Stored = Omit<Account, "uuid">;

export class Accounts implements AccountDirectory {
  readonly #store: Pick<Store, "records">;
  readonly #options: AccountsOptions;
  readonly #mirror: Mirror<Stored>;
  readonly #throttle = new LoginThrottle();
  readonly #listeners = new Set<(uuid: string, account: Account | undefined) => void>();
  #byId: ReadonlyMap<string, Account> = new Map();
  #byKey: ReadonlyMap<string, Account> = new Map();
  readonly #turns: AccountTurns;

  constructor(store: Pick<Store, "records">, options: AccountsOptions) {
    this.#store = store;
    this.#options = options;
    this.#mirror = new Mirror(store, ACCOUNT);
    this.#mirror.on((after, before) => this.#take(after, before));
    this.#turns = new AccountTurns(store, () => this.load());
  }

  /** Reads all again: at start, and when the store tells of a change. */
  load(): Promise<void> {
    return this.#mirror.load();
  }

  get all(): Iterable<Account> {
    return this.#byId.values();
  }

  byId(uuid: string): Account | undefined {
    return this.#byId.get(uuid.toLowerCase());
  }

  byEmail(email: string): Account | undefined {
    return this.#byKey.get(localKey(email));
  }

  byIdentity(issuer: string, subject: string): Account | undefined {
    return this.#byKey.get(identityKey({ issuer, subject }));
  }

  onChange(listener: (uuid: string, account: Account | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async withPassword(email: string, password: string, address: string): Promise<Account | undefined> {
    const attempt = this.#throttle.attempt(emailKey(email), address, this.#now());
    if (!attempt.ok)
      throw new AccessError("throttled", "too many failed logins: try again later", attempt.retryAfterMs);
    const stored = this.byEmail(email)?.password;
    const right = await isPassword(password, stored).catch((error: unknown) => {
      // Nothing was looked at, so nothing was learned.
      attempt.succeeded();
      throw error;
    });
    if (!right) return undefined;
    // Looked up again: it may have changed while the password was checked.
    const account = this.byEmail(email);
    if (!account || account.disabled || account.password !== stored) return undefined;
    attempt.succeeded();
    return account;
  }

  async ofIdentity(identity: OutsideIdentity): Promise<Account> {
    return await this.#turns.take(async (turn) => {
      const { issuer, subject, email, emailVerified = false, groups, role } = identity;
      const known = this.byIdentity(issuer, subject);
      const next: Stored = {
        ...(known
          ? storedOf(known)
          : { ...this.#stamps(), role: "member", groups: [], disabled: false, email: subject }),
        identity: { issuer, subject },
        ...(email === undefined ? {} : { email, emailVerified }),
        ...(groups && { groups }),
        ...(role && { role: known && this.#mustStay(known) ? known.role : role }),
      };
      return await this.#write(known?.uuid ?? this.#options.newId(), next, [], turn);
    });
  }

  /** Rejects with "taken" where the address has an account. */
  async create({ email, role, groups = [], password }: NewAccount): Promise<Account> {
    const hash = password === undefined ? {} : { password: await hashPassword(password) };
    return await this.#turns.take((turn) => {
      const account = { ...this.#stamps(), email, role, groups, disabled: false, ...hash };
      return this.#write(this.#options.newId(), account, [], turn);
    });
  }

  /** While there is no administrator. `also`: what is written with it, or neither is. */
  async createFirst(
    account: NewAccount & { readonly password: string },
    also: readonly RecordChange[] = [],
  ): Promise<Account | undefined> {
    const password = await hashPassword(account.password);
    return await this.#turns.take(async (turn) => {
      if (this.hasAdmin) return undefined;
      const { email, role, groups = [] } = account;
      const first = { ...this.#stamps(), email, role, groups, disabled: false, password };
      return await this.#write(this.#options.newId(), first, also, turn);
    });
  }

  async change(
    uuid: string,
    { password, ...fields }: AccountChange,
    also: readonly RecordChange[] = [],
  ): Promise<Account> {
    const hash = password === undefined ? {} : { password: await hashPassword(password) };
    return await this.#turns.take(async (turn) => {
      const account = this.#existing(uuid);
      const next = { ...storedOf(account), ...fields, ...hash };
      if (next.role !== "admin" || next.disabled) this.#refuseLastAdmin(account);
      return await this.#write(account.uuid, next, also, turn);
    });
  }

  /** `also`: what goes with it, in the same write. */
  async remove(uuid: string, also: readonly RecordChange[] = []): Promise<void> {
    await this.#turns.take(async (turn) => {
      const account = this.#existing(uuid);
      this.#refuseLastAdmin(account);
      await this.#store.records.write([{ delete: { kind: ACCOUNT, id: account.uuid } }, ...also, turn]);
      await this.#turns.refresh();
    });
  }

  #existing(uuid: string): Account {
    const account = this.byId(uuid);
    if (!account) throw new AccessError("not_found", `there is no account "${uuid.slice(0, 64)}"`);
    return account;
  }

  #refuseLastAdmin(account: Account): void {
    if (this.#mustStay(account))
      throw new AccessError(
        "last_admin",
        "this is the last active administrator: make another account an administrator first",
      );
  }

  /** Whether an account can administer this gateway. */
  get hasAdmin(): boolean {
    return [...this.#byId.values()].some(isAdmin);
  }

  #mustStay(account: Account): boolean {
    return !this.#options.adminToken && this.#isLastAdmin(account);
  }

  #isLastAdmin(account: Account): boolean {
    const others = [...this.#byId.values()].filter(({ uuid }) => uuid !== account.uuid);
    return isAdmin(account) && !others.some(isAdmin);
  }

  async #write(
    id: string,
    value: Stored,
    also: readonly RecordChange[],
    turn: RecordChange,
  ): Promise<Account> {
    const before = this.#mirror.values.get(id);
    const stamped = { ...value, updatedAt: this.#stamps().updatedAt };
    if (
      also.length === 0 &&
      before &&
      isDeepStrictEqual({ ...before, updatedAt: "" }, { ...value, updatedAt: "" })
    )
      return this.#existing(id);
    try {
      const record = { kind: ACCOUNT, id, value: stamped, key: keyOf(value) };
      await this.#store.records.write([{ put: record }, ...also, turn]);
    } catch (error) {
      if (!StoreError.is(error, "taken")) throw error;
      throw new AccessError("taken", `an account for ${value.email} already exists`);
    }
    await this.#turns.refresh();
    return this.#existing(id);
  }

  #take(after: ReadonlyMap<string, Stored>, before: ReadonlyMap<string, Stored>): void {
    const known = this.#byId;
    const changed = [...after].filter(([id, value]) => !isDeepStrictEqual(value, before.get(id)));
    const fresh = new Set(changed.map(([id]) => id));
    const list = [...after].map(([uuid, value]) => {
      const old = fresh.has(uuid) ? undefined : known.get(uuid);
      return old ?? { uuid, ...value };
    });
    this.#byId = new Map(list.map((account) => [account.uuid, account]));
    this.#byKey = new Map(list.map((account) => [keyOf(account), account]));
    const gone = [...before.keys()].filter((id) => !after.has(id));
    for (const uuid of [...fresh, ...gone])
      for (const listener of this.#listeners) listener(uuid, this.#byId.get(uuid));
  }

  #stamps(): Pick<Account, "createdAt" | "updatedAt"> {
    const at = new Date(this.#now()).toISOString();
    return { createdAt: at, updatedAt: at };
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** Who was invited and has not come cannot be the one who is left. */
function isAdmin({ role, disabled, password, identity }: Account): boolean {
  return role === "admin" && !disabled && (password !== undefined || identity !== undefined);
}

function storedOf(account: Account): Stored {
  const { uuid: _, ...stored } = account;
  return stored;
}

/** Unique within the store. An outside identity never has the key of an address. */
function keyOf({ email, identity }: Pick<Account, "email" | "identity">): string {
  return identity ? identityKey(identity) : localKey(email);
}

function localKey(email: string): string {
  return `email ${emailKey(email)}`;
}

function identityKey({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  const hash = createHash("sha256").update(JSON.stringify([issuer, subject]));
  return `identity ${hash.digest("base64url")}`;
}
