/** How long things took, as counts by size: enough for percentiles, and as small however many there were. */

const LEAST_MS = 0.1;
const GROWTH = 1.4;
const SIZES = 45;
const LOG_GROWTH = Math.log(GROWTH);

/** Of those that are told apart. */
export function sizeOf(ms: number): number {
  if (ms <= LEAST_MS) return 0;
  return Math.min(Math.ceil(Math.log(ms / LEAST_MS) / LOG_GROWTH), SIZES - 1);
}

export class Durations {
  readonly #counts = new Uint32Array(SIZES);

  add(size: number): void {
    this.#counts[size] = (this.#counts[size] as number) + 1;
  }

  merge(other: Durations): void {
    for (let at = 0; at < SIZES; at++)
      this.#counts[at] = (this.#counts[at] as number) + (other.#counts[at] as number);
  }

  /** `share` 0.95: what 95 of 100 did not exceed, within 20 percent; undefined where there were none. */
  percentile(share: number): number | undefined {
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return undefined;
    let seen = 0;
    for (let at = 0; at < SIZES; at++) {
      seen += this.#counts[at] as number;
      if (seen >= share * total) return middle(at);
    }
    return middle(SIZES - 1);
  }
}

function middle(at: number): number {
  const ms = at === 0 ? LEAST_MS / 2 : LEAST_MS * GROWTH ** (at - 0.5);
  return Number(ms.toPrecision(3));
}
