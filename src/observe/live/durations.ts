/**
 * A histogram of durations with exponential buckets, for percentiles. Its size does not depend on the number
 * of values.
 */

const LEAST_MS = 0.1;
const GROWTH = 1.4;
export const DURATION_BUCKETS = 45;
const LOG_GROWTH = Math.log(GROWTH);

/** The bucket of a duration. */
export function bucketOf(ms: number): number {
  if (ms <= LEAST_MS) return 0;
  return Math.min(Math.ceil(Math.log(ms / LEAST_MS) / LOG_GROWTH), DURATION_BUCKETS - 1);
}

export class Durations {
  readonly #counts = new Uint32Array(DURATION_BUCKETS);

  /** From the `counts` of another histogram. */
  static of(counts: readonly number[]): Durations {
    const made = new Durations();
    made.#counts.set(counts.slice(0, DURATION_BUCKETS));
    return made;
  }

  /** The number of values in each bucket, without empty ones at the end. */
  get counts(): readonly number[] {
    return [...this.#counts.subarray(0, 1 + this.#counts.findLastIndex((count) => count > 0))];
  }

  add(bucket: number): void {
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  merge(other: Durations): void {
    for (let at = 0; at < DURATION_BUCKETS; at++)
      this.#counts[at] = (this.#counts[at] as number) + (other.#counts[at] as number);
  }

  /**
   * For `share` 0.95: the duration that 95 % of the values did not exceed, accurate to 20 %. Undefined
   * without values.
   */
  percentile(share: number): number | undefined {
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return undefined;
    let seen = 0;
    for (let at = 0; at < DURATION_BUCKETS; at++) {
      seen += this.#counts[at] as number;
      if (seen >= share * total) return middleOf(at);
    }
    return middleOf(DURATION_BUCKETS - 1);
  }
}

/** A duration in the middle of a bucket. */
export function middleOf(at: number): number {
  const ms = at === 0 ? LEAST_MS / 2 : LEAST_MS * GROWTH ** (at - 0.5);
  return Number(ms.toPrecision(3));
}
