/** Logins that people left for an issuer, until they come back: sealed, for one use and a short time, found by any gateway on the store. */
import { createHmac } from "node:crypto";
import type { BegunLogin } from "../oauth/code-flow.ts";
import type { Store } from "../store/store.ts";
import type { LoginPlace } from "./login-records.ts";

/** The kind of record. */
const BEGUN = "server-login-begun";
const PATIENCE_MS = 10 * 60_000;

export interface Begun extends LoginPlace {
  /** The account that must come back; undefined: an administrator's token began it, which no browser has. */
  readonly by: string | undefined;
  readonly returnTo: string | undefined;
  readonly login: BegunLogin;
}

export class BegunLogins {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #pepper: Buffer;

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
    this.#pepper = store.sealer.derive("server-logins");
  }

  /** Until when. */
  async keep(begun: Begun): Promise<number> {
    const expiresAt = Date.now() + PATIENCE_MS;
    const sealed = this.#store.sealer.seal(JSON.stringify(begun));
    const id = this.#idOf(begun.login.state);
    await this.#store.records.put({ kind: BEGUN, id, value: { sealed }, expiresAt });
    return expiresAt;
  }

  /** Without using it up. */
  async find(state: string): Promise<Begun | undefined> {
    const record = await this.#store.records.get(BEGUN, this.#idOf(state));
    const { sealed } = (record?.value ?? {}) as { sealed?: string };
    return sealed === undefined ? undefined : (JSON.parse(this.#store.sealer.open(sealed)) as Begun);
  }

  /** Whoever uses it up first; an answer counts once. */
  async take(state: string): Promise<boolean> {
    return await this.#store.records.delete(BEGUN, this.#idOf(state));
  }

  #idOf(state: string): string {
    return createHmac("sha256", this.#pepper).update(state).digest("base64url");
  }
}
