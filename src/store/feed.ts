/** Tells of changes, each once unless it is to be told anew, and never that something is older than was told before. */
import type { Log } from "../kernel/log.ts";
import { Listeners } from "./listeners.ts";
import type { StoreChange } from "./store.ts";

/** No kind of records has an empty name. */
const CONFIG = "";

export class Feed {
  readonly #seen = new Map<string, number>();
  readonly #listeners: Listeners<StoreChange>;

  constructor(log: Log) {
    this.#listeners = new Listeners(log);
  }

  on(listener: (change: StoreChange) => void): () => void {
    return this.#listeners.on(listener);
  }

  revision(n: number): void {
    if (this.#news(CONFIG, n)) this.#listeners.tell({ of: "config", revision: n });
  }

  records(kind: string, version: number): void {
    if (this.#news(kind, version)) this.#listeners.tell({ of: "records", kind });
  }

  /** Everything is told anew: whoever was told while the store went away could not read it. */
  repeat(): void {
    this.#seen.clear();
  }

  #news(what: string, version: number): boolean {
    if (version <= (this.#seen.get(what) ?? 0)) return false;
    this.#seen.set(what, version);
    return true;
  }
}
