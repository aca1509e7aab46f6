/**
 * Calls per time in the memory of this process, with GCRA. For each key it keeps one number: the time at
 * which all counted calls are earned back.
 */
import type { Clock } from "./clock.ts";
import type { Rate, RateTerms } from "./counts.ts";
import { Lru } from "./lru.ts";

/** Maximum number of keys; a key takes about 100 bytes. */
export const MAX_KEYS = 100_000;
/** Tolerance for rounding errors of added fractions. */
const ROUNDING_MS = 1e-6;

export class LocalRate implements Rate {
  readonly #earnedAt = new Lru<string, number>(MAX_KEYS);
  readonly #intervalMs: number;
  readonly #tolerance: number;
  readonly #clock: Clock;

  constructor({ burst, intervalMs }: RateTerms, clock: Clock) {
    this.#intervalMs = intervalMs;
    this.#tolerance = intervalMs * burst;
    this.#clock = clock;
  }

  wait(key: string): number {
    const now = this.#clock.now();
    const wait = this.#next(key, now) - this.#tolerance - now;
    return wait > ROUNDING_MS ? wait : 0;
  }

  take(key: string): void {
    this.#earnedAt.set(key, this.#next(key, this.#clock.now()));
  }

  giveBack(key: string): void {
    const at = this.#earnedAt.peek(key);
    if (at !== undefined) this.#earnedAt.set(key, at - this.#intervalMs);
  }

  #next(key: string, now: number): number {
    return Math.max(this.#earnedAt.peek(key) ?? 0, now) + this.#intervalMs;
  }
}
