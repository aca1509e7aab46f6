/**
 * Hands items on in batches, beside whoever makes them. Never holds anybody up and never grows beyond its bound: what
 * does not fit is lost, and counted.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface BatchQueueParts<T> {
  readonly clock: Clock;
  /** Resolves with how many were refused for good. After a rejection that may pass it gets the same array once more. */
  readonly write: (batch: readonly T[]) => Promise<number>;
  /** Whether it may pass; a number: not before so many milliseconds. */
  readonly again: (error: unknown) => boolean | number;
  /** Its state changed: it fails and why, or it goes on. */
  readonly onFault?: (fault: string | undefined) => void;
  /** How many an item stands for, where what is lost and written is told; one unless said. */
  readonly countOf?: (item: T) => number;
  /** In bytes, about. */
  readonly sizeOf: (item: T) => number;
  readonly mostInBatch: number;
  readonly mostBytesInBatch: number;
  readonly mostQueued: number;
  readonly mostBytes: number;
  /** At least so long lies between two batches. */
  readonly everyMs: number;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

export class BatchQueue<T> {
  readonly #parts: BatchQueueParts<T>;
  #items: T[] = [];
  /** Being written, or to be written again. */
  #batch: readonly T[] = [];
  /** Of all that waits or is being written. */
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #since = 0;
  #timer: Timer | undefined;
  #retryMs = FIRST_RETRY_MS;
  #lost = 0;
  #written = 0;
  #fault: string | undefined;
  #closed = false;

  constructor(parts: BatchQueueParts<T>) {
    this.#parts = parts;
  }

  get queued(): number {
    return this.#items.length + this.#batch.length;
  }

  get lost(): number {
    return this.#lost;
  }

  get written(): number {
    return this.#written;
  }

  /** Why nothing can be written at the moment. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** How much of its room is taken, 1 where there is none left. */
  get fill(): number {
    const { mostQueued, mostBytes } = this.#parts;
    return Math.max(this.queued / mostQueued, this.#bytes / mostBytes);
  }

  /** How long the batch that is being written has taken so far. */
  get writingMs(): number {
    return this.#writing ? this.#parts.clock.now() - this.#since : 0;
  }

  /** False: it is lost. */
  add(item: T): boolean {
    if (this.fill >= 1 || this.#closed) {
      this.#lost += this.#countOf([item]);
      return false;
    }
    this.#items.push(item);
    this.#bytes += this.#parts.sizeOf(item);
    if (!this.#timer && !this.#writing) this.#wait(this.#parts.everyMs);
    return true;
  }

  /** Writes what is left, within this time; the rest is lost. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    let over = false;
    const late = new Promise<void>((resolve) => {
      this.#parts.clock.after(withinMs, () => {
        over = true;
        resolve();
      });
    });
    // Nothing else may keep the process alive until it is written.
    const hold = setInterval(() => {}, withinMs);
    while (this.queued > 0 && !over) {
      this.#timer?.cancel();
      this.#timer = undefined;
      const before = this.queued;
      await Promise.race([this.#writing ?? this.#write(), late]);
      if (this.#fault !== undefined && this.queued === before) await Promise.race([this.#pause(), late]);
    }
    clearInterval(hold);
    this.#lost += this.#countOf(this.#items) + this.#countOf(this.#batch);
    this.#items = [];
    this.#batch = [];
    this.#bytes = 0;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.after(FIRST_RETRY_MS, resolve));
  }

  #wait(ms: number): void {
    this.#timer = this.#parts.clock.after(ms, () => {
      this.#timer = undefined;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    this.#since = this.#parts.clock.now();
    this.#writing = this.#writeBatch().finally(() => {
      this.#writing = undefined;
      if (this.queued > 0 && !this.#closed)
        this.#wait(this.#fault === undefined ? this.#parts.everyMs : this.#retryMs);
    });
    return this.#writing;
  }

  async #writeBatch(): Promise<void> {
    const { write, again } = this.#parts;
    if (this.#batch.length === 0) this.#batch = this.#take();
    const count = this.#countOf(this.#batch);
    try {
      const refused = await write(this.#batch);
      this.#written += count - refused;
      this.#lost += refused;
      this.#drop();
      this.#retryMs = FIRST_RETRY_MS;
      this.#failing(undefined);
    } catch (error) {
      this.#failing((error as Error).message);
      const wait = again(error);
      if (wait === false) {
        this.#lost += count;
        this.#drop();
        return;
      }
      const longer = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      this.#retryMs = wait === true ? longer : Math.max(longer, wait);
    }
  }

  #take(): readonly T[] {
    const { mostInBatch, mostBytesInBatch, sizeOf } = this.#parts;
    let count = 0;
    for (let bytes = 0; count < Math.min(mostInBatch, this.#items.length); count++) {
      bytes += sizeOf(this.#items[count] as T);
      if (bytes > mostBytesInBatch && count > 0) break;
    }
    return this.#items.splice(0, count);
  }

  #countOf(items: readonly T[]): number {
    const { countOf } = this.#parts;
    return countOf ? items.reduce((sum, item) => sum + countOf(item), 0) : items.length;
  }

  #drop(): void {
    for (const item of this.#batch) this.#bytes -= this.#parts.sizeOf(item);
    this.#batch = [];
  }

  #failing(fault: string | undefined): void {
    const news = (this.#fault === undefined) !== (fault === undefined);
    this.#fault = fault;
    if (news) this.#parts.onFault?.(fault);
  }
}
