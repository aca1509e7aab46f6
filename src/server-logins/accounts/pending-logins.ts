/**
 * Logins at servers that have started and wait for the callback of the issuer. Sealed in the store, valid
 * once and for ten minutes, so that any gateway on the store can finish them.
 */

import { randomBytes } from "node:crypto";
import { keyedHash } from "../../kernel/keyed-hash.ts";
import type { Store } from "../../store/store.ts";
import type { BegunLogin } from "../code-flow.ts";
import type { LoginKey } from "./login-records.ts";

/** The kind of record. */
const PENDING = "server-login-begun";
const LIFETIME_MS = 10 * 60_000;

export interface PendingLogin extends LoginKey {
  /**
   * The account whose browser must return. Undefined if a token or key started the login: then the browser
   * that used its link must return.
   */
  readonly by: string | undefined;
  readonly returnTo: string | undefined;
  readonly login: BegunLogin;
}

/** The link that continues a login in a browser, if a token or key started it. */
export interface LoginLink {
  /** Name of the server. */
  readonly server: string;
  readonly url: string;
  readonly state: string;
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

  /** Stores a link. Returns its secret part, which one browser can use, once. */
  async addLink(link: LoginLink): Promise<string> {
    const ticket = randomBytes(32).toString("base64url");
    const sealed = this.#store.sealer.seal(JSON.stringify(link));
    const expiresAt = Date.now() + LIFETIME_MS;
    await this.#store.records.put({ kind: PENDING, id: this.#linkId(ticket), value: { sealed }, expiresAt });
    return ticket;
  }

  /** Reads a link without using it up. */
  async findLink(ticket: string): Promise<LoginLink | undefined> {
    return (await this.#open(this.#linkId(ticket))) as LoginLink | undefined;
  }

  /** Uses a link up. Returns false if another browser was first. */
  async takeLink(ticket: string): Promise<boolean> {
    return await this.#store.records.delete(PENDING, this.#linkId(ticket));
  }

  /**
   * The value of a cookie that only the browser has that used the link. It cannot be computed from the
   * address at the issuer.
   */
  proofOf(state: string): string {
    return keyedHash(this.#pepper, `browser ${state}`);
  }

  /** Reads a login without using it up. */
  async find(state: string): Promise<PendingLogin | undefined> {
    return (await this.#open(this.#idOf(state))) as PendingLogin | undefined;
  }

  /** Uses the login up. Returns false if another request was first. */
  async take(state: string): Promise<boolean> {
    return await this.#store.records.delete(PENDING, this.#idOf(state));
  }

  async #open(id: string): Promise<unknown> {
    const record = await this.#store.records.get(PENDING, id);
    const { sealed } = (record?.value ?? {}) as { sealed?: string };
    return sealed === undefined ? undefined : JSON.parse(this.#store.sealer.open(sealed));
  }

  #linkId(ticket: string): string {
    return this.#idOf(`link ${ticket}`);
  }

  #idOf(state: string): string {
    return keyedHash(this.#pepper, state);
  }
}
