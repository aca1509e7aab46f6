/** Setup of a gateway without administrator: a code, valid once, that is printed when the gateway starts. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isRecord } from "../kernel/is-record.ts";
import { StoreError } from "../store/error.ts";
import type { Store, StoredRecord } from "../store/store.ts";
import type { Account } from "./account.ts";
import { type Accounts, passwordsOff } from "./accounts.ts";
import { AccessError } from "./error.ts";

const SETUP = "setup-code";
const ID = "setup";
const LIFETIME_MS = 24 * 60 * 60_000;
/** A gateway that starts prints the code of the others if it is valid for that long. */
const LEFT_MS = 60 * 60_000;

/** Without the secret of the store nobody can make the code of it. */
interface Derived {
  readonly salt: string;
}

type SetupStore = Pick<Store, "records" | "sealer"> & Partial<Pick<Store, "shared">>;

export class Setup {
  readonly #store: SetupStore;
  readonly #accounts: Accounts;
  readonly #pepper: Buffer;
  readonly #now: () => number;

  constructor(store: SetupStore, accounts: Accounts, now: () => number = Date.now) {
    this.#store = store;
    this.#accounts = accounts;
    this.#pepper = store.sealer.derive("setup-code");
    this.#now = now;
  }

  /**
   * Returns a new code, which replaces previous ones; with other gateways on the store, the code that they
   * have printed. Undefined if there is an administrator, or passwords are turned off.
   */
  async begin(): Promise<string | undefined> {
    if (this.#accounts.hasAdmin || !this.#accounts.takesPasswords) return undefined;
    if (this.#store.shared) return await this.#beginShared();
    const code = randomBytes(32).toString("base64url");
    const expiresAt = this.#now() + LIFETIME_MS;
    await this.#store.records.put({
      kind: SETUP,
      id: ID,
      value: this.#hash(code).toString("base64url"),
      expiresAt,
    });
    return code;
  }

  async #beginShared(): Promise<string> {
    for (;;) {
      const record = await this.#store.records.get(SETUP, ID);
      const derived = derivedIn(record?.value);
      if (derived && (record?.expiresAt ?? 0) > this.#now() + LEFT_MS) return this.#codeOf(derived);
      const value: Derived = { salt: randomBytes(32).toString("base64url") };
      try {
        const expiresAt = this.#now() + LIFETIME_MS;
        const ifVersion = record?.version ?? 0;
        await this.#store.records.put({ kind: SETUP, id: ID, value, expiresAt, ifVersion });
        return this.#codeOf(value);
      } catch (error) {
        // Another gateway started at the same time: its code counts.
        if (!StoreError.is(error, "conflict")) throw error;
      }
    }
  }

  /** Rejects like `finish` if no administrator can be created with this code. */
  async check(code: string): Promise<void> {
    await this.#recordOf(code);
  }

  /**
   * Creates the first administrator. Rejects with "code_unknown" if the code is wrong, used or expired, and
   * with "passwords_off".
   */
  async finish(code: string, { email, password }: { email: string; password: string }): Promise<Account> {
    const { version } = await this.#recordOf(code);
    try {
      const used = { delete: { kind: SETUP, id: ID, ifVersion: version } };
      const account = await this.#accounts.createFirst({ email, role: "admin", password }, [used]);
      if (account) return account;
    } catch (error) {
      // Another request used the code first.
      if (!StoreError.is(error, "conflict")) throw error;
    }
    throw unknown();
  }

  async #recordOf(code: string): Promise<StoredRecord> {
    if (!this.#accounts.takesPasswords) throw passwordsOff();
    const record = await this.#store.records.get(SETUP, ID);
    const stored = this.#hashIn(record?.value);
    const given = this.#hash(code);
    const isRight = stored.length === given.length && timingSafeEqual(stored, given);
    if (!record || !isRight || this.#accounts.hasAdmin) throw unknown();
    return record;
  }

  #codeOf({ salt }: Derived): string {
    return createHmac("sha256", this.#pepper).update(`code ${salt}`).digest("base64url");
  }

  #hashIn(value: unknown): Buffer {
    const derived = derivedIn(value);
    if (derived) return this.#hash(this.#codeOf(derived));
    return Buffer.from(typeof value === "string" ? value : "", "base64url");
  }

  #hash(code: string): Buffer {
    return createHmac("sha256", this.#pepper).update(code).digest();
  }
}

function derivedIn(value: unknown): Derived | undefined {
  return isRecord(value) && typeof value["salt"] === "string" ? { salt: value["salt"] } : undefined;
}

function unknown(): AccessError {
  return new AccessError(
    "code_unknown",
    "this setup link is invalid or expired: restart the gateway for a new one",
  );
}
