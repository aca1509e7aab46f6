/**
 * A queue that writes items in batches in the background. Adding never blocks, and the queue never exceeds
 * its limits: items that do not fit are lost and counted.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface BatchQueueParts<T> {
  readonly clock: Clock;
  /**
   * Resolves with the number of items that were refused for good. After an error that can be retried it gets
   * the same array again.
   */
  readonly write: (batch: readonly T[]) => Promise<number>;
  /** Whether the batch can be retried; a number is the minimum wait in milliseconds. */
  readonly retry: (error: unknown) => boolean | number;
  /** Runs when writing starts to fail, with the reason, and when it works again, with undefined. */
  readonly onFault?: (fault: string | undefined) => void;
  /** How much an item adds to `lost` and `written`. Default: one. */
  readonly countOf?: (item: T) => number;
  /** Whose item it is. One owner gets at most as much room as stays free, so that others always find some. */
  readonly ownerOf?: (item: T) => string | undefined;
  /** Approximate size in bytes. */
  readonly sizeOf: (item: T) => number;
  readonly mostInBatch: number;
  readonly mostBytesInBatch: number;
  readonly mostQueued: number;
  readonly mostBytes: number;
  /** Minimum time between two batches, unless somebody waits for one. */
  readonly everyMs: number;
  /** How long the next batch must wait in any case. */
  readonly waitMs?: () => number;
}

/** What the items of one owner use of the limits. */
interface Use {
  count: number;
  bytes: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
/** The same while somebody waits for an item. */
const LONGEST_WAITED_RETRY_MS = 500;

export class BatchQueue<T> {
  readonly #parts: BatchQueueParts<T>;
  #items: T[] = [];
  /** The batch that is being written or will be retried. */
  #batch: readonly T[] = [];
  /** Bytes of all items that wait or are being written. */
  #bytes = 0;
  readonly #owners = new Map<string, Use>();
  /** Who waits until an item is written. */
  readonly #waiters = new Map<T, Waiter>();
  #writing: Promise<void> | undefined;
  #since = 0;
  #timer: Timer | undefined;
  #retryMs = FIRST_RETRY_MS;
  #lost = 0;
  #written = 0;
  #fault: string | undefined;
  #faultSince: number | undefined;
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

  /** Why nothing can be written now. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The used share of the limits; 1 means full. */
  get fill(): number {
    return this.#share(this.queued, this.#bytes);
  }

  /** How long nothing could be written: since writes fail, or since the current one began. */
  get stuckMs(): number {
    const since = this.#faultSince ?? (this.#writing && this.#since);
    return since === undefined ? 0 : this.#parts.clock.now() - since;
  }

  /** Returns false if the item is lost. */
  add(item: T): boolean {
    const owner = this.#parts.ownerOf?.(item);
    if (this.#closed || !this.#hasRoom(owner)) {
      this.#lost += this.#countOf([item]);
      return false;
    }
    this.#items.push(item);
    this.#use(item, 1);
    if (!this.#timer && !this.#writing) this.#wait(this.#nextPause());
    return true;
  }

  /** Resolves when the item is written, which begins at once. Rejects if it is lost. */
  async addAndWait(item: T): Promise<void> {
    if (!this.add(item)) throw new Error("there is no room for it");
    const written = new Promise<void>((resolve, reject) => {
      this.#waiters.set(item, { resolve, reject });
    });
    if (!this.#writing && this.#fault === undefined) {
      this.#timer?.cancel();
      this.#wait(this.#nextPause());
    }
    await written;
  }

  /**
   * Writes the remaining items within this time. Returns those that were not written, or possibly not; they
   * count as lost.
   */
  async close(withinMs: number): Promise<readonly T[]> {
    this.#closed = true;
    let over = false;
    const late = new Promise<void>((resolve) => {
      this.#parts.clock.after(withinMs, () => {
        over = true;
        resolve();
      });
    });
    // Keeps the process alive until everything is written.
    const hold = setInterval(() => {}, withinMs);
    while (this.queued > 0 && !over) {
      this.#timer?.cancel();
      this.#timer = undefined;
      const before = this.queued;
      await Promise.race([this.#writing ?? this.#write(), late]);
      if (this.#fault !== undefined && this.queued === before) await Promise.race([this.#pause(), late]);
    }
    clearInterval(hold);
    const left = [...this.#batch, ...this.#items];
    this.#lost += this.#countOf(left);
    for (const item of left) this.#waiters.get(item)?.reject(new Error("the gateway is stopping"));
    this.#waiters.clear();
    this.#items = [];
    this.#batch = [];
    this.#bytes = 0;
    return left;
  }

  #hasRoom(owner: string | undefined): boolean {
    const { fill } = this;
    const own = owner === undefined ? undefined : this.#owners.get(owner);
    return fill < 1 && (!own || this.#share(own.count, own.bytes) < 1 - fill);
  }

  #share(count: number, bytes: number): number {
    const { mostQueued, mostBytes } = this.#parts;
    return Math.max(count / mostQueued, bytes / mostBytes);
  }

  /** Counts an item that came (1) or left (-1). */
  #use(item: T, change: 1 | -1): void {
    const { sizeOf, ownerOf } = this.#parts;
    const size = sizeOf(item);
    this.#bytes += change * size;
    const owner = ownerOf?.(item);
    if (owner === undefined) return;
    const use = this.#owners.get(owner);
    if (!use) this.#owners.set(owner, { count: 1, bytes: size });
    else if (use.count + change === 0) this.#owners.delete(owner);
    else {
      use.count += change;
      use.bytes += change * size;
    }
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
      if (this.queued > 0 && !this.#closed) this.#wait(this.#nextPause());
    });
    return this.#writing;
  }

  #nextPause(): number {
    if (this.#fault !== undefined) return this.#retryMs;
    const { everyMs, waitMs } = this.#parts;
    return Math.max(this.#waiters.size > 0 ? 0 : everyMs, waitMs?.() ?? 0);
  }

  async #writeBatch(): Promise<void> {
    const { write, retry } = this.#parts;
    if (this.#batch.length === 0) this.#batch = this.#nextBatch();
    const count = this.#countOf(this.#batch);
    try {
      const refused = await write(this.#batch);
      this.#written += count - refused;
      this.#lost += refused;
      this.#clearBatch();
      this.#retryMs = FIRST_RETRY_MS;
      this.#setFault(undefined);
    } catch (error) {
      this.#setFault((error as Error).message);
      const wait = retry(error);
      if (wait === false) {
        this.#lost += count;
        this.#clearBatch(error as Error);
        return;
      }
      const longest = this.#waiters.size > 0 ? LONGEST_WAITED_RETRY_MS : LONGEST_RETRY_MS;
      const longer = Math.min(this.#retryMs * 2, longest);
      this.#retryMs = wait === true ? longer : Math.max(longer, wait);
    }
  }

  #nextBatch(): readonly T[] {
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

  #clearBatch(error?: Error): void {
    for (const item of this.#batch) {
      this.#use(item, -1);
      if (this.#waiters.size > 0) this.#answer(item, error);
    }
    this.#batch = [];
  }

  #answer(item: T, error: Error | undefined): void {
    const waiter = this.#waiters.get(item);
    this.#waiters.delete(item);
    if (error) waiter?.reject(error);
    else waiter?.resolve();
  }

  #setFault(fault: string | undefined): void {
    const changed = (this.#fault === undefined) !== (fault === undefined);
    this.#fault = fault;
    if (!changed) return;
    this.#faultSince = fault === undefined ? undefined : this.#since;
    this.#parts.onFault?.(fault);
  }
}
