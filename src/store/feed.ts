/** Notifies listeners of changes: each version once, and never an older version after a newer one. */
import { Listeners } from "../kernel/listeners.ts";
import type { Log } from "../kernel/log.ts";
import type { StoreChange } from "./store.ts";

/** The map key of the config. No kind of records has an empty name. */
const CONFIG = "";

export class Feed {
  readonly #seen = new Map<string, number>();
  readonly #listeners: Listeners<[StoreChange]>;

  constructor(log: Log) {
    this.#listeners = new Listeners((error) => log.error("a listener of the store failed", { error }));
  }

  on(listener: (change: StoreChange) => void): () => void {
    return this.#listeners.on(listener);
  }

  /** The newest version that was reported; of the config for "". */
  versionOf(kind: string): number {
    return this.#seen.get(kind) ?? 0;
  }

  revision(n: number): void {
    if (this.#isNew(CONFIG, n)) this.#listeners.emit({ of: "config", revision: n });
  }

  records(kind: string, version: number): void {
    if (this.#isNew(kind, version)) this.#listeners.emit({ of: "records", kind });
  }

  /**
   * Forgets the versions, so that all are notified again: listeners may have failed to read while the store
   * was down.
   */
  reset(): void {
    this.#seen.clear();
  }

  #isNew(what: string, version: number): boolean {
    if (version <= (this.#seen.get(what) ?? 0)) return false;
    this.#seen.set(what, version);
    return true;
  }
}
