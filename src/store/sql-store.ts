/** The store, composed of its parts. The same for both databases. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Availability } from "./availability.ts";
import type { ConfigStore } from "./config.ts";
import type { Database } from "./database.ts";
import type { Feed } from "./feed.ts";
import type { RecordTable } from "./records.ts";
import type {
  Audit,
  Commit,
  PastRevision,
  Records,
  Revision,
  RevisionPage,
  Sealer,
  Store,
  StoreChange,
  StoreSnapshot,
  StoreState,
} from "./store.ts";
import type { Watch } from "./watch.ts";

/** How often expired records are deleted. Reads ignore them before. */
const SWEEP_MS = 600_000;

export interface StoreParts {
  readonly database: Database;
  readonly config: ConfigStore;
  readonly records: RecordTable;
  readonly audit: Audit;
  readonly sealer: Sealer;
  readonly availability: Availability;
  readonly feed: Feed;
  /** Undefined for an embedded store, which no other process changes. */
  readonly watch: Watch | undefined;
  readonly clock: Clock;
}

export class SqlStore implements Store {
  readonly #parts: StoreParts;
  #sweep: Timer;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#sweep = this.#scheduleSweep();
  }

  get records(): Records {
    return this.#parts.records;
  }

  get audit(): Audit {
    return this.#parts.audit;
  }

  get sealer(): Sealer {
    return this.#parts.sealer;
  }

  get shared(): boolean {
    return this.#parts.watch !== undefined;
  }

  get state(): StoreState {
    return this.#parts.availability.state;
  }

  async load(): Promise<StoreSnapshot> {
    return await this.#parts.config.load();
  }

  async commit(commit: Commit): Promise<Revision> {
    return await this.#parts.config.commit(commit);
  }

  async revisions(page?: RevisionPage): Promise<readonly Revision[]> {
    return await this.#parts.config.revisions(page);
  }

  async revision(n: number): Promise<PastRevision | undefined> {
    return await this.#parts.config.revision(n);
  }

  onState(listener: (state: StoreState) => void): () => void {
    return this.#parts.availability.on(listener);
  }

  onChange(listener: (change: StoreChange) => void): () => void {
    return this.#parts.feed.on(listener);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#sweep.cancel();
    // Together, because a poll of a database that hangs ends only with its connection.
    await Promise.all([this.#parts.watch?.close(), this.#parts.database.close()]);
  }

  #scheduleSweep(): Timer {
    return this.#parts.clock.after(SWEEP_MS, () => {
      this.#parts.records.sweep().catch(() => {});
      if (!this.#closing) this.#sweep = this.#scheduleSweep();
    });
  }
}
