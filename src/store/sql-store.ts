/** The store, composed of its parts. The same for both databases. */

import type { Clock, Timer } from "../kernel/clock.ts";
import type { Revision } from "../kernel/revision.ts";
import type { Availability } from "./availability.ts";
import type { ConfigStore } from "./config.ts";
import type { Database } from "./database.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { Feed } from "./feed.ts";
import type { LimitRows } from "./limits.ts";
import type { Placements } from "./placements.ts";
import type { Reads } from "./reads.ts";
import type { RecordTable } from "./records.ts";
import type { Replicas } from "./replicas.ts";
import type {
  Audit,
  Commit,
  PastRevision,
  Records,
  RevisionPage,
  Sealer,
  Store,
  StoreChange,
  StoreSnapshot,
  StoreState,
} from "./store.ts";
import type { Sums } from "./sum-rows.ts";
import type { Tries } from "./tries.ts";
import { poll, type Watch } from "./watch.ts";

/** How often expired records are deleted. Reads ignore them before. */
const SWEEP_MS = 600_000;

export interface StoreParts {
  readonly database: Database;
  readonly config: ConfigStore;
  readonly records: RecordTable;
  readonly audit: Audit;
  readonly sums: Sums;
  readonly sealer: Sealer;
  readonly replicas: Replicas | undefined;
  readonly reads: Reads | undefined;
  readonly placements: Placements | undefined;
  readonly limits: LimitRows | undefined;
  readonly tries: Tries | undefined;
  readonly availability: Availability;
  readonly feed: Feed;
  readonly time: DatabaseTime;
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

  get sums(): Sums {
    return this.#parts.sums;
  }

  get sealer(): Sealer {
    return this.#parts.sealer;
  }

  get replicas(): Replicas | undefined {
    return this.#parts.replicas;
  }

  get reads(): Reads | undefined {
    return this.#parts.reads;
  }

  get placements(): Placements | undefined {
    return this.#parts.placements;
  }

  get limits(): LimitRows | undefined {
    return this.#parts.limits;
  }

  get tries(): Tries | undefined {
    return this.#parts.tries;
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
