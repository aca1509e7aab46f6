/**
 * The share that one replica has of a limit of calls per time while the database is away. It counts all calls
 * that pass here, also those with tokens of the database: that may go away, and come back, at any time.
 */
import type { RateTerms } from "../../kernel/counts.ts";
import type { Reach } from "./reach.ts";

/** Tolerance for rounding errors of added fractions. */
const ROUNDING_MS = 1e-6;

export class RateShare {
  readonly #terms: RateTerms;
  readonly #reach: Pick<Reach, "clock" | "replicas">;
  #wholeAt = 0;

  constructor(terms: RateTerms, reach: Pick<Reach, "clock" | "replicas">) {
    this.#terms = terms;
    this.#reach = reach;
  }

  /** It earns a call after each such time. */
  get #intervalMs(): number {
    return this.#terms.intervalMs * this.#reach.replicas;
  }

  /** So long it takes to be whole again. */
  get #emptyMs(): number {
    return Math.floor(this.#terms.burst / this.#reach.replicas) * this.#intervalMs;
  }

  /** How long until one more call passes. */
  wait(): number {
    const now = this.#reach.clock.now();
    const wait = Math.max(this.#wholeAt, now) + this.#intervalMs - this.#emptyMs - now;
    return wait > ROUNDING_MS ? wait : 0;
  }

  /**
   * Returns what was taken, for `giveBack`: one replica may use up the whole limit, which is more than its
   * share.
   */
  take(): number {
    const now = this.#reach.clock.now();
    const before = Math.max(this.#wholeAt, now);
    this.#wholeAt = Math.max(before, Math.min(before + this.#intervalMs, now + this.#emptyMs));
    return this.#wholeAt - before;
  }

  giveBack(takenMs: number): void {
    this.#wholeAt -= takenMs;
  }

  /** How many of the calls that have passed here are not earned again yet, at most. */
  get unearned(): number {
    return Math.max(0, Math.ceil((this.#wholeAt - this.#reach.clock.now()) / this.#intervalMs));
  }
}
