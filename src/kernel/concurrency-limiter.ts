/** Limits the number of sessions and of requests in flight, at one endpoint and at all together. It only counts; its user must refuse. */

export interface ConcurrencyLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

export class ConcurrencyLimiter {
  readonly #limits: () => ConcurrencyLimits;
  readonly #outer: ConcurrencyLimiter | undefined;
  readonly #counts = { sessions: 0, inFlight: 0 };

  /** `outer`: an outer limit, where everything is counted too. */
  constructor(limits: () => ConcurrencyLimits, outer?: ConcurrencyLimiter) {
    this.#limits = limits;
    this.#outer = outer;
  }

  /** Whether one more would be over the limit. */
  full(what: keyof ConcurrencyLimits): boolean {
    const most = this.#limits()[what];
    return (most !== undefined && this.#counts[what] >= most) || (this.#outer?.full(what) ?? false);
  }

  enter(what: keyof ConcurrencyLimits): void {
    this.#counts[what] += 1;
    this.#outer?.enter(what);
  }

  leave(what: keyof ConcurrencyLimits): void {
    this.#counts[what] -= 1;
    this.#outer?.leave(what);
  }

  /** Counts a request until it settles. Its errors are passed on. */
  serve<T>(request: () => Promise<T>): Promise<T> {
    const left = (): void => this.leave("inFlight");
    this.enter("inFlight");
    let answer: Promise<T>;
    try {
      answer = request();
    } catch (error) {
      left();
      throw error;
    }
    answer.then(left, left);
    return answer;
  }
}
