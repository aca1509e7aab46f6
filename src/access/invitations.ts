/** Invitations: a code, valid once, to choose the password of an account. Also used to reset a password. */

import { randomBytes } from "node:crypto";
import { keyedHash } from "../kernel/keyed-hash.ts";
import { StoreError } from "../store/error.ts";
import type { RecordChange, Store, StoredRecord } from "../store/store.ts";
import type { Account } from "./account.ts";
import { type Accounts, passwordsOff } from "./accounts.ts";
import { AccessError } from "./error.ts";

const INVITATION = "invitation";
const LIFETIME_MS = 7 * 24 * 60 * 60_000;

export interface Invitation {
  readonly code: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export class Invitations {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #accounts: Accounts;
  readonly #pepper: Buffer;
  readonly #now: () => number;

  constructor(store: Pick<Store, "records" | "sealer">, accounts: Accounts, now: () => number = Date.now) {
    this.#store = store;
    this.#accounts = accounts;
    this.#pepper = store.sealer.derive("invitations");
    this.#now = now;
  }

  /** Replaces the previous invitation of the account. */
  async create(account: Account): Promise<Invitation> {
    const code = randomBytes(32).toString("base64url");
    const expiresAt = this.#now() + LIFETIME_MS;
    const record = { kind: INVITATION, id: account.uuid, key: this.#hash(code), value: {}, expiresAt };
    await this.#store.records.put(record);
    return { code, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** The account of an invitation. Rejects with "code_unknown". */
  async find(code: string): Promise<{ readonly account: Account; readonly expiresAt: string }> {
    const { account, record } = await this.#found(code);
    return { account, expiresAt: new Date(record.expiresAt ?? 0).toISOString() };
  }

  async accept(code: string, password: string): Promise<Account> {
    const { account, record } = await this.#found(code);
    if (!this.#accounts.takesPasswords) throw passwordsOff();
    try {
      const used = { delete: { kind: INVITATION, id: record.id, ifVersion: record.version } };
      return await this.#accounts.change(account.uuid, { password }, [used]);
    } catch (error) {
      if (!StoreError.is(error, "conflict")) throw error;
      throw unknown();
    }
  }

  async #found(code: string): Promise<{ readonly account: Account; readonly record: StoredRecord }> {
    const record = await this.#store.records.find(INVITATION, this.#hash(code));
    const account = record && this.#accounts.byId(record.id);
    if (!account || account.disabled) throw unknown();
    return { account, record };
  }

  #hash(code: string): string {
    return keyedHash(this.#pepper, code);
  }
}

/** Deletes the invitation of an account. */
export function invitationRemoval(account: string): RecordChange {
  return { delete: { kind: INVITATION, id: account } };
}

function unknown(): AccessError {
  return new AccessError("code_unknown", "this invitation is invalid or expired: ask for a new one");
}
