/**
 * The time of the database, by the clock of this process: clocks of replicas may be hours apart, and are
 * never compared. Differences that are small change nothing, so that times are read as they were written.
 */
const SMALL_MS = 2_000;
/** An answer that took so long does not say how late it is. */
const SLOW_MS = 1_000;

export class DatabaseTime {
  readonly #local: () => number;
  /** How far the database is ahead of this process. */
  #aheadMs = 0;

  /** `local`: milliseconds since 1970. */
  constructor(local: () => number) {
    this.#local = local;
  }

  get local(): number {
    return this.#local();
  }

  /** The database said its time in answer to a question that was sent at `sentAt`, which is local. */
  heard(time: number, sentAt: number): void {
    const aheadMs = time - sentAt;
    if (this.#local() - sentAt < SLOW_MS && Math.abs(aheadMs - this.#aheadMs) > SMALL_MS)
      this.#aheadMs = aheadMs;
  }

  get now(): number {
    return this.of(this.#local());
  }

  /** The time of the database that is a local time. */
  of(local: number): number {
    return local + this.#aheadMs;
  }

  toLocal(time: number): number {
    return time - this.#aheadMs;
  }
}
