/**
 * Logins at servers: sealed records, one per server and account, all cached in memory. Calls do not read the
 * store.
 */
import { Listeners } from "../../kernel/listeners.ts";
import { Sequencer } from "../../kernel/sequencer.ts";
import type { NewRecord, Store } from "../../store/store.ts";

/** The kind of record. */
export const SERVER_LOGIN = "server-login";

/** The account name of shared logins, which belong to the gateway. */
export const SHARED = "shared";

/** Identifies a login by server and account. */
export interface LoginKey {
  /** Its uuid. */
  readonly server: string;
  /** Its uuid, or `SHARED`. */
  readonly account: string;
}

interface Stored extends LoginKey {
  /** Missing after a logout. The record stays for a day, so that other gateways see the logout. */
  readonly sealed?: string;
}

export interface StoredLogin extends LoginKey {
  readonly sealed: string;
  readonly version: number;
}

/** How long the record of a logout stays, for gateways that were disconnected. */
const LOGOUT_KEPT_MS = 24 * 60 * 60_000;

export class LoginRecords {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #listeners = new Listeners<[LoginKey]>();
  readonly #logins = new Map<string, StoredLogin>();
  /**
   * The last version of each login, including ended ones, so that an older read that finishes late is
   * ignored.
   */
  readonly #seen = new Map<string, number>();
  #version = 0;
  readonly #reads = new Sequencer();

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
  }

  get all(): Iterable<StoredLogin> {
    return this.#logins.values();
  }

  /** Returns the same object until the login changes. */
  at(key: LoginKey): StoredLogin | undefined {
    return this.#logins.get(idOf(key));
  }

  /** Reads the login from the store. The version is 0 if there is none. */
  async fresh(key: LoginKey): Promise<{ readonly login: StoredLogin | undefined; readonly version: number }> {
    const record = await this.#store.records.get(SERVER_LOGIN, idOf(key));
    if (!record) return { login: undefined, version: 0 };
    this.#update(record.value as Stored, record.version);
    return { login: this.at(key), version: record.version };
  }

  /** Runs when a login was created, renewed or ended. Returns a function that unsubscribes. */
  on(listener: (key: LoginKey) => void): () => void {
    return this.#listeners.on(listener);
  }

  /** Reads the changes since the last read, or everything with `full`. Reads run one at a time. */
  load(full = false): Promise<void> {
    return this.#reads.run(async () => {
      const since = full ? 0 : this.#version;
      const records = await this.#store.records.list(SERVER_LOGIN, { since });
      if (full) {
        const existing = new Set(records.map(({ id }) => id));
        for (const [id, login] of this.#logins) if (!existing.has(id)) this.#forget(login);
      }
      for (const { value, version } of records) {
        this.#version = Math.max(this.#version, version);
        this.#update(value as Stored, version);
      }
    });
  }

  /** Rejects with "conflict" if the stored version is another one. */
  async put(key: LoginKey, sealed: string, ifVersion: number): Promise<void> {
    const value = { ...key, sealed } satisfies Stored;
    const { version } = await this.#store.records.put({
      kind: SERVER_LOGIN,
      id: idOf(key),
      value,
      ifVersion,
    });
    this.#update(value, version);
  }

  async remove(keys: readonly LoginKey[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#store.records.write(keys.map(removal));
    await this.load();
  }

  /** The same for one login. Rejects with "conflict" if the stored version is another one. */
  async end(key: LoginKey, ifVersion: number): Promise<void> {
    const { put } = removal(key);
    await this.#store.records.write([{ put: { ...put, ifVersion } }]);
    await this.load();
  }

  #update(value: Stored, version: number): void {
    const { server, account, sealed } = value;
    const key = { server, account };
    const id = idOf(key);
    if (version <= (this.#seen.get(id) ?? 0)) return;
    this.#seen.set(id, version);
    if (sealed === undefined) this.#forget(key);
    else {
      this.#logins.set(id, { ...key, sealed, version });
      this.#notify(key);
    }
  }

  #forget(key: LoginKey): void {
    if (this.#logins.delete(idOf(key))) this.#notify(key);
  }

  #notify(key: LoginKey): void {
    this.#listeners.emit(key);
  }
}

function removal({ server, account }: LoginKey): { readonly put: NewRecord } {
  return {
    put: {
      kind: SERVER_LOGIN,
      id: idOf({ server, account }),
      value: { server, account } satisfies Stored,
      expiresAt: Date.now() + LOGOUT_KEPT_MS,
    },
  };
}

function idOf({ server, account }: LoginKey): string {
  return `${server} ${account}`;
}
