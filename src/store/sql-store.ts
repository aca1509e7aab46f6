/** The store, composed of its parts. The same for both databases. */

import type { Clock, Timer } from "../kernel/clock.ts";
import type { Revision } from "../kernel/revision.ts";
import type { Availability } from "./availability.ts";
import type { ConfigStore } from "./config.ts";
import type { Database } from "./database.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { Feed } from "./feed.ts";
import type { RecordTable } from "./records.ts";
import type { SharedTables } from "./shared-tables.ts";
import type {
  Commit,
  PastRevision,
  RevisionPage,
  Store,
  StoreChange,
  StoreSnapshot,
  StoreState,
} from "./store.ts";
import { poll, type Watch } from "./watch.ts";

/** How often expired records are deleted. Reads ignore them before. */
const SWEEP_MS = 600_000;

/** The stores of one kind of rows each. */
type Tables = Pick<Store, "records" | "audit" | "sums" | "sealer">;

export interface StoreParts extends Tables, Partial<SharedTables> {
  readonly database: Database;
  readonly config: ConfigStore;
  readonly records: RecordTable;
  readonly availability: Availability;
  readonly feed: Feed;
  readonly time: DatabaseTime;
  /** Undefined for an embedded store, which no other process changes. */
  readonly watch: Watch | undefined;
  readonly clock: Clock;
}

export class SqlStore implements Store {
  readonly records: Store["records"];
  readonly audit: Store["audit"];
  readonly sums: Store["sums"];
  readonly sealer: Store["sealer"];
  readonly replicas: Store["replicas"];
  readonly reads: Store["reads"];
  readonly placements: Store["placements"];
  readonly limits: Store["limits"];
  readonly tries: Store["tries"];
  readonly #parts: StoreParts;
  #sweep: Timer;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.records = parts.records;
    this.audit = parts.audit;
    this.sums = parts.sums;
    this.sealer = parts.sealer;
    this.replicas = parts.replicas;
    this.reads = parts.reads;
    this.placements = parts.placements;
    this.limits = parts.limits;
    this.tries = parts.tries;
    this.#sweep = this.#scheduleSweep();
  }

  now(): number {
    return this.#parts.time.now;
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

  async catchUp(): Promise<void> {
    if (this.shared) await poll(this.#parts);
  }

  versionOf(kind: string): number {
    return this.#parts.feed.versionOf(kind);
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
      this.#parts.replicas?.sweep().catch(() => {});
      this.#parts.reads?.sweep().catch(() => {});
      this.#parts.limits?.sweep().catch(() => {});
      this.#parts.tries?.sweep().catch(() => {});
      if (!this.#closing) this.#sweep = this.#scheduleSweep();
    });
  }
}
