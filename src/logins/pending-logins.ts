/** Logins at servers that have started and wait for the callback of the issuer. Sealed in the store, valid once and for ten minutes, so that any gateway on the store can finish them. */
import { createHmac } from "node:crypto";
import type { BegunLogin } from "../oauth/code-flow.ts";
import type { Store } from "../store/store.ts";
import type { LoginKey } from "./login-records.ts";

/** The kind of record. */
const PENDING = "server-login-begun";
const LIFETIME_MS = 10 * 60_000;

export interface PendingLogin extends LoginKey {
  /** The account whose browser must return. Undefined if the admin token started the login, because no browser has that token. */
  readonly by: string | undefined;
  readonly returnTo: string | undefined;
  readonly login: BegunLogin;
}

export class PendingLogins {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #pepper: Buffer;

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
    this.#pepper = store.sealer.derive("server-logins");
  }

  /** Stores the login. Returns when it expires. */
  async add(pending: PendingLogin): Promise<number> {
    const expiresAt = Date.now() + LIFETIME_MS;
    const sealed = this.#store.sealer.seal(JSON.stringify(pending));
    const id = this.#idOf(pending.login.state);
    await this.#store.records.put({ kind: PENDING, id, value: { sealed }, expiresAt });
    return expiresAt;
  }

  /** Reads a login without using it up. */
  async find(state: string): Promise<PendingLogin | undefined> {
    const record = await this.#store.records.get(PENDING, this.#idOf(state));
    const { sealed } = (record?.value ?? {}) as { sealed?: string };
    return sealed === undefined ? undefined : (JSON.parse(this.#store.sealer.open(sealed)) as PendingLogin);
  }

  /** Uses the login up. Returns false if another request was first. */
  async take(state: string): Promise<boolean> {
    return await this.#store.records.delete(PENDING, this.#idOf(state));
  }

  #idOf(state: string): string {
    return createHmac("sha256", this.#pepper).update(state).digest("base64url");
  }
}
