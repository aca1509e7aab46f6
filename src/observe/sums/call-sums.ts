/**
 * Counts finished calls and adds them to the sums in the store every few seconds, so that a call costs no
 * statement. What waits is limited: callers beyond the limit are counted together, and while the store is
 * away minutes are given up first.
 */
import { randomUUID } from "node:crypto";
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import { SUM_MS, type SumBatch, type Sums } from "../../store/sum-rows.ts";
import type { CallGroup } from "../call-groups.ts";
import type { CallRow, Named } from "../call-schema.ts";
import { bucketOf } from "../live/durations.ts";
import { type Cell, Minute } from "./minute.ts";
import { Waiting } from "./waiting.ts";

const EVERY_MS = 5_000;
/** After a batch of many rows. Rows of the same minute become one, so fewer are written in all. */
const AFTER_MANY_MS = 15_000;
const MANY_ROWS = 1_000;
const CLOSE_MS = 2_000;
const FIRST_PRUNE_MS = 90_000;
const PRUNE_EVERY_MS = 3_600_000;

export interface CallSumsParts {
  readonly sums: Pick<Sums, "add" | "prune">;
  readonly clock: Clock;
  readonly log: Log;
  /** The namespace through which an endpoint has a server now. */
  readonly namespaceOf: (endpoint: string | undefined, server: string | undefined) => Named | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class CallSums {
  readonly #parts: CallSumsParts;
  readonly #now: () => number;
  readonly #waiting: Waiting;
  readonly #writer = randomUUID();
  #minute = new Minute(0);
  #batches = 0;
  #every = EVERY_MS;
  /** A batch whose writing failed. It is sent again as it is, because it may have arrived. */
  #unsure: SumBatch | undefined;
  #writing: Promise<void> | undefined;
  #timer: Timer | undefined;
  #pruning: Timer;
  #closed = false;

  constructor(parts: CallSumsParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#waiting = new Waiting(parts.namespaceOf);
    this.#pruning = parts.clock.after(FIRST_PRUNE_MS, () => void this.#prune());
  }

  add(group: CallGroup, row: CallRow, took = bucketOf(row.durationMs)): void {
    this.#at(row.at).count(group, row, took);
  }

  /**
   * Lists: what all tools of the endpoint would have cost, and what was shown instead. Also lookups, as
   * shown.
   */
  tokens(endpoint: Named, full: number, shown: number, at: number): void {
    const cell: Cell = this.#at(at).tokensOf(endpoint);
    cell.tokens_full += full;
    cell.tokens_shown += shown;
    cell.last = at;
  }

  /** Resolves when the store has everything that was counted before. Rejects if it cannot be written. */
  async flush(): Promise<void> {
    // A write that runs may have begun before the newest calls.
    await this.#writing?.catch(() => {});
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pruning.cancel();
    this.#timer?.cancel();
    const { clock, log } = this.#parts;
    const written = this.flush().catch((error: unknown) => {
      log.warn(`the last sums of calls could not be written: ${(error as Error).message}`);
    });
    await isDoneWithin(clock, CLOSE_MS, written);
  }

  #at(time: number): Minute {
    const at = Math.floor(time / SUM_MS.minute) * SUM_MS.minute;
    if (this.#minute.at !== at) {
      this.#waiting.take(this.#minute);
      this.#minute = new Minute(at);
    }
    if (!this.#closed) this.#timer ??= this.#parts.clock.after(this.#every, () => this.#tick());
    return this.#minute;
  }

  #tick(): void {
    this.#timer = undefined;
    // A store that is away says so itself.
    this.flush().catch(() => {});
  }

  async #write(): Promise<void> {
    if (this.#unsure) await this.#send(this.#unsure);
    this.#waiting.take(this.#minute);
    this.#minute.reset();
    const rows = this.#waiting.give(this.#now());
    if (!rows) return;
    this.#every = rows.sums.length + rows.durations.length > MANY_ROWS ? AFTER_MANY_MS : EVERY_MS;
    await this.#send({ writer: this.#writer, n: ++this.#batches, ...rows });
  }

  async #send(batch: SumBatch): Promise<void> {
    this.#unsure = batch;
    try {
      await this.#parts.sums.add(batch);
    } catch (error) {
      if (StoreError.is(error, "unavailable")) {
        if (!this.#closed) this.#timer ??= this.#parts.clock.after(EVERY_MS, () => this.#tick());
        throw error;
      }
      // It would fail each time.
      this.#waiting.nameAgain();
      this.#parts.log.error(`sums of calls could not be written and are lost: ${(error as Error).message}`);
    }
    this.#unsure = undefined;
  }

  async #prune(): Promise<void> {
    const { sums, clock, log } = this.#parts;
    try {
      await sums.prune(this.#now());
    } catch (error) {
      log.warn(`old sums of calls could not be removed: ${(error as Error).message}`);
    }
    if (!this.#closed) this.#pruning = clock.after(PRUNE_EVERY_MS, () => void this.#prune());
  }
}
