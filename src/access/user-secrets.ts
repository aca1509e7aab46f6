/**
 * Secrets of accounts for servers: sealed in the store and cached in memory. The admin API never returns
 * them.
 */
import type { RecordChange, Store } from "../store/store.ts";
import { Mirror } from "./mirror.ts";

/** The kind of record. */
export const USER_SECRET = "user-secret";

/** One line, because it is used in headers and environment variables. */
export const SECRET_PATTERN = "^[^\\p{Cc}\\p{Cs}]+$";
export const MAX_SECRET = 8_192;

export function isSecretValue(text: string): boolean {
  return text.length <= MAX_SECRET && new RegExp(SECRET_PATTERN, "u").test(text);
}

interface Stored {
  readonly account: string;
  readonly name: string;
  readonly sealed: string;
  readonly updatedAt: string;
}

export class UserSecrets {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #mirror: Mirror<Stored>;

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
    this.#mirror = new Mirror(store, USER_SECRET);
  }

  load(): Promise<void> {
    return this.#mirror.load();
  }

  /** Runs when secrets may have changed. Returns a function that unsubscribes. */
  on(listener: () => void): () => void {
    return this.#mirror.on(listener);
  }

  namesOf(account: string): readonly Pick<Stored, "name" | "updatedAt">[] {
    const own = [...this.#mirror.values.values()].filter((secret) => secret.account === account);
    return own.map(({ name, updatedAt }) => ({ name, updatedAt })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The plain secret. Undefined for an unknown name. */
  open(account: string, name: string): string | undefined {
    const stored = this.#mirror.values.get(idOf(account, name));
    return stored && this.#store.sealer.open(stored.sealed);
  }

  async put(account: string, name: string, text: string, now: number = Date.now()): Promise<void> {
    const sealed = this.#store.sealer.seal(text);
    const value: Stored = { account, name, sealed, updatedAt: new Date(now).toISOString() };
    await this.#store.records.put({ kind: USER_SECRET, id: idOf(account, name), value });
    await this.load();
  }

  /** Returns false for an unknown name. */
  async remove(account: string, name: string): Promise<boolean> {
    const was = await this.#store.records.delete(USER_SECRET, idOf(account, name));
    await this.load();
    return was;
  }

  /** The changes that delete all secrets of an account. */
  removal(account: string): readonly RecordChange[] {
    const ids = [...this.#mirror.values].flatMap(([id, secret]) => (secret.account === account ? [id] : []));
    return ids.map((id) => ({ delete: { kind: USER_SECRET, id } }));
  }
}

function idOf(account: string, name: string): string {
  return `${account} ${name}`;
}
