/**
 * The accounts of a gateway: looked up in memory, changed in the store. Checks passwords. Does not send mail.
 */

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Listeners } from "../kernel/listeners.ts";
import { StoreError } from "../store/error.ts";
import type { RecordChange, Store } from "../store/store.ts";
import type { Tries } from "../store/tries.ts";
import {
  ACCOUNT,
  type Account,
  type AccountDirectory,
  type ExternalIdentity,
  emailKey,
  type Role,
} from "./account.ts";
import { AccountLock } from "./account-lock.ts";
import { AccessError } from "./error.ts";
import { Mirror } from "./mirror.ts";
import { hashPassword, isPassword } from "./password.ts";
import { attemptAtAll, LoginThrottle } from "./throttle.ts";

export interface AccountsOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly newId: () => string;
  /** Whether people can log in with passwords. Default: they can. */
  readonly passwords?: (() => boolean) | undefined;
  /** An admin token is set, so the last administrator account may be deleted. */
  readonly adminToken: boolean;
  /** Counts failed logins over all gateways on the store. */
  readonly tries?: Tries | undefined;
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

/** `disabled` is only what an administrator set. */
type Stored = Omit<Account, "uuid">;

export class Accounts implements AccountDirectory {
  readonly #store: Pick<Store, "records">;
  readonly #options: AccountsOptions;
  readonly #mirror: Mirror<Stored>;
  readonly #throttle = new LoginThrottle();
  readonly #listeners = new Listeners<[uuid: string, account: Account | undefined]>();
  #byId: ReadonlyMap<string, Account> = new Map();
  #byKey: ReadonlyMap<string, Account> = new Map();
  readonly #lock: AccountLock;

  constructor(store: Pick<Store, "records">, options: AccountsOptions) {
    this.#store = store;
    this.#options = options;
    this.#mirror = new Mirror(store, ACCOUNT);
    this.#mirror.on((after, before) => this.#update(after, before));
    this.#lock = new AccountLock(store, () => this.load());
  }

  /** Reads all accounts again: at start, and when the store reports a change. */
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
    return this.#listeners.on(listener);
  }

  async withPassword(
    email: string,
    password: string,
    address: string,
    refused: (reason: string) => void = () => {},
  ): Promise<Account | undefined> {
    if (!this.takesPasswords) {
      refused("passwords are turned off");
      throw passwordsOff();
    }
    const { tries } = this.#options;
    const attempt = await attemptAtAll(this.#throttle, tries, [emailKey(email), address, this.#now()]);
    if (!attempt.ok) refused("too many failed logins");
    if (!attempt.ok)
      throw new AccessError("throttled", "too many failed logins: try again later", attempt.retryAfterMs);
    const stored = this.byEmail(email)?.password;
    const right = await isPassword(password, stored).catch((error: unknown) => {
      // The password was not checked, so the attempt does not count as failed.
      attempt.succeeded();
      throw error;
    });
    // Looks the account up again, because it may have changed during the check.
    const account = this.byEmail(email);
    const reason = refusalOf(account, stored, right);
    if (!account || reason !== undefined) {
      refused(reason ?? "");
      return undefined;
    }
    attempt.succeeded();
    return account;
  }

  async ofIdentity(identity: ExternalIdentity): Promise<Account> {
    return await this.#lock.run(async (lockChange) => {
      const { issuer, subject, email, emailVerified = false, groups, role } = identity;
      const known = this.byIdentity(issuer, subject);
      const { suspended: _, ...before } = (known && this.#mirror.values.get(known.uuid)) ?? {};
      const next: Stored = {
        ...(known
          ? (before as Stored)
          : { ...this.#stamps(), role: "member", groups: [], disabled: false, email: subject }),
        identity: { issuer, subject },
        ...(email === undefined ? {} : { email, emailVerified }),
        ...(groups && { groups }),
        ...(role && { role: known && this.#mustStay(known) ? known.role : role }),
      };
      return await this.#write(known?.uuid ?? this.#options.newId(), next, [], lockChange);
    });
  }

  get takesPasswords(): boolean {
    return this.#options.passwords?.() ?? true;
  }

  /** Rejects with "taken" if the address already has an account. */
  async create({ email, role, groups = [], password }: NewAccount): Promise<Account> {
    const hash = password === undefined ? {} : { password: await hashPassword(password) };
    return await this.#lock.run((lockChange) => {
      const account = { ...this.#stamps(), email, role, groups, disabled: false, ...hash };
      return this.#write(this.#options.newId(), account, [], lockChange);
    });
  }

  /**
   * Creates an account only while there is no administrator; otherwise returns undefined. `also` is written
   * in the same transaction.
   */
  async createFirst(
    account: NewAccount & { readonly password: string },
    also: readonly RecordChange[] = [],
  ): Promise<Account | undefined> {
    const password = await hashPassword(account.password);
    return await this.#lock.run(async (lockChange) => {
      if (this.hasAdmin) return undefined;
      const { email, role, groups = [] } = account;
      const first = { ...this.#stamps(), email, role, groups, disabled: false, password };
      return await this.#write(this.#options.newId(), first, also, lockChange);
    });
  }

  async change(
    uuid: string,
    { password, ...fields }: AccountChange,
    also: readonly RecordChange[] = [],
  ): Promise<Account> {
    const hash = password === undefined ? {} : { password: await hashPassword(password) };
    return await this.#lock.run(async (lockChange) => {
      const account = this.#existing(uuid);
      const { suspended, ...before } = this.#mirror.values.get(account.uuid) as Stored;
      // An administrator who enables an account again ends its suspension.
      const stays = suspended && fields.disabled !== false ? { suspended } : {};
      const next = { ...before, ...stays, ...fields, ...hash };
      if (next.role !== "admin" || next.disabled) this.#refuseLastAdmin(account);
      return await this.#write(account.uuid, next, also, lockChange);
    });
  }

  /** Ends all access of an account of an identity provider until its next login there. */
  async suspend(uuid: string): Promise<void> {
    await this.#lock.run(async (lockChange) => {
      const stored = this.#mirror.values.get(this.#existing(uuid).uuid) as Stored;
      return await this.#write(uuid, { ...stored, suspended: true }, [], lockChange);
    });
  }

  /** `also` is written in the same transaction. */
  async remove(uuid: string, also: readonly RecordChange[] = []): Promise<void> {
    await this.#lock.run(async (lockChange) => {
      const account = this.#existing(uuid);
      this.#refuseLastAdmin(account);
      await this.#store.records.write([{ delete: { kind: ACCOUNT, id: account.uuid } }, ...also, lockChange]);
      await this.#lock.refresh();
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
    lockChange: RecordChange,
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
      await this.#store.records.write([{ put: record }, ...also, lockChange]);
    } catch (error) {
      if (!StoreError.is(error, "taken")) throw error;
      throw new AccessError("taken", `an account for ${value.email} already exists`);
    }
    await this.#lock.refresh();
    return this.#existing(id);
  }

  #update(after: ReadonlyMap<string, Stored>, before: ReadonlyMap<string, Stored>): void {
    const known = this.#byId;
    const changed = [...after].filter(([id, value]) => !isDeepStrictEqual(value, before.get(id)));
    const fresh = new Set(changed.map(([id]) => id));
    const list = [...after].map(([uuid, value]) => {
      const old = fresh.has(uuid) ? undefined : known.get(uuid);
      return old ?? accountOf(uuid, value);
    });
    this.#byId = new Map(list.map((account) => [account.uuid, account]));
    this.#byKey = new Map(list.map((account) => [keyOf(account), account]));
    const gone = [...before.keys()].filter((id) => !after.has(id));
    for (const uuid of [...fresh, ...gone]) this.#listeners.emit(uuid, this.#byId.get(uuid));
  }

  #stamps(): Pick<Account, "createdAt" | "updatedAt"> {
    const at = new Date(this.#now()).toISOString();
    return { createdAt: at, updatedAt: at };
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** An administrator who has not accepted the invitation does not count, because nobody can log in as them. */
function isAdmin({ role, disabled, password, identity }: Account): boolean {
  return role === "admin" && !disabled && (password !== undefined || identity !== undefined);
}

export function passwordsOff(): AccessError {
  return new AccessError(
    "passwords_off",
    "passwords are turned off at this gateway: log in at your identity provider",
  );
}

/** Why a password does not open an account. Undefined if it does. */
function refusalOf(
  account: Account | undefined,
  checked: string | undefined,
  right: boolean,
): string | undefined {
  if (!account) return "there is no such account";
  if (account.disabled) return "the account is disabled";
  if (account.password === undefined) return "the account has no password";
  return right && account.password === checked ? undefined : "the password is wrong";
}

function accountOf(uuid: string, { suspended, ...stored }: Stored): Account {
  return suspended && !stored.disabled ? { uuid, ...stored, disabled: true, suspended } : { uuid, ...stored };
}

/** Unique within the store. The key of an external identity never equals the key of an address. */
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
