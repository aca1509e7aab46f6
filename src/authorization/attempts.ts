/** Counts what an address did within a minute. Pure but for its memory: time is passed in. */

const WINDOW_MS = 60_000;
/** Beyond so many addresses the oldest are forgotten: memory has a bound, whoever asks. */
const MOST_ADDRESSES = 10_000;

export class Attempts {
  readonly #limit: number;
  /** Times, oldest first, by address; the address that was seen last is last. */
  readonly #times = new Map<string, readonly number[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How long to wait, in milliseconds; 0: it may go on, and is counted. */
  take(address: string, now: number): number {
    const times = (this.#times.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
    const oldest = times[times.length - this.#limit];
    if (oldest !== undefined) return oldest + WINDOW_MS - now;
    this.#times.delete(address);
    this.#times.set(address, [...times, now]);
    this.#forget(now);
    return 0;
  }

  #forget(now: number): void {
    for (const [address, times] of this.#times) {
      if (this.#times.size <= MOST_ADDRESSES && (times.at(-1) ?? 0) > now - WINDOW_MS) return;
      this.#times.delete(address);
    }
  }
}
