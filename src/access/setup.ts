/** Setup of a gateway without administrator: a code, valid once, that is printed when the gateway starts. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { StoreError } from "../store/error.ts";
import type { Store } from "../store/store.ts";
import type { Account } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { AccessError } from "./error.ts";

const SETUP = "setup-code";
const ID = "setup";
const LIFETIME_MS = 24 * 60 * 60_000;

export class Setup {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #accounts: Accounts;
  readonly #pepper: Buffer;
  readonly #now: () => number;

  constructor(store: Pick<Store, "records" | "sealer">, accounts: Accounts, now: () => number = Date.now) {
    this.#store = store;
    this.#accounts = accounts;
    this.#pepper = store.sealer.derive("setup-code");
    this.#now = now;
  }

  /** Returns a new code, which replaces previous ones. Undefined if there is an administrator. */
  async begin(): Promise<string | undefined> {
    if (this.#accounts.hasAdmin) return undefined;
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

  /** Creates the first administrator. Rejects with "code_unknown" if the code is wrong, used or expired. */
  async finish(code: string, { email, password }: { email: string; password: string }): Promise<Account> {
    const record = await this.#store.records.get(SETUP, ID);
    const stored = Buffer.from(typeof record?.value === "string" ? record.value : "", "base64url");
    const given = this.#hash(code);
    if (!record || stored.length !== given.length || !timingSafeEqual(stored, given)) throw unknown();
    try {
      const used = { delete: { kind: SETUP, id: ID, ifVersion: record.version } };
      const account = await this.#accounts.createFirst({ email, role: "admin", password }, [used]);
      if (account) return account;
    } catch (error) {
      // Another request used the code first.
      if (!StoreError.is(error, "conflict")) throw error;
    }
    throw unknown();
  }

  #hash(code: string): Buffer {
    return createHmac("sha256", this.#pepper).update(code).digest();
  }
}

function unknown(): AccessError {
  return new AccessError(
    "code_unknown",
    "this setup link is invalid or expired: restart the gateway for a new one",
  );
}
