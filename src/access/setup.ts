/** The way in to a gateway that nobody administers yet: a code for one use, told to whoever started it. */
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

  /** A new code; those before it end. Undefined: there is an administrator. */
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

  /** Makes the first administrator. Rejects with "code_unknown" where the code is not, or no longer, good. */
  async finish(code: string, { email, password }: { email: string; password: string }): Promise<Account> {
    const record = await this.#store.records.get(SETUP, ID);
    const known = Buffer.from(typeof record?.value === "string" ? record.value : "", "base64url");
    const shown = this.#hash(code);
    if (!record || known.length !== shown.length || !timingSafeEqual(known, shown)) throw unknown();
    try {
      const used = { delete: { kind: SETUP, id: ID, ifVersion: record.version } };
      const account = await this.#accounts.createFirst({ email, role: "admin", password }, [used]);
      if (account) return account;
    } catch (error) {
      // Somebody else was quicker with the same code.
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
