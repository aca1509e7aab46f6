/** Limits the number of sessions and of requests in flight, at one endpoint and at all together. It only counts; its user must refuse. */

export interface ConcurrencyLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

/** Ends a session in favour of this caller. Returns false if none may end. */
export type Release = (caller: string, within: "endpoint" | "all") => boolean;

export class ConcurrencyLimiter {
  readonly #limits: () => ConcurrencyLimits;
  readonly #outer: ConcurrencyLimiter | undefined;
  readonly #counts = { sessions: 0, inFlight: 0 };
  readonly #releases = new Set<Release>();

  /** `outer`: an outer limit, where everything is counted too. */
  constructor(limits: () => ConcurrencyLimits, outer?: ConcurrencyLimiter) {
    this.#limits = limits;
    this.#outer = outer;
  }

  /** Whether this many more would be over the limit. */
  full(what: keyof ConcurrencyLimits, more = 1): boolean {
    return this.#isFull(what, more) || (this.#outer?.full(what, more) ?? false);
  }

  #isFull(what: keyof ConcurrencyLimits, more: number): boolean {
    const most = this.#limits()[what];
    return most !== undefined && this.#counts[what] + more > most;
  }

  /** Registers a function that ends a session, here and at the outer limit. */
  onFull(release: Release): void {
    this.#releases.add(release);
    this.#outer?.onFull(release);
  }

  offFull(release: Release): void {
    this.#releases.delete(release);
    this.#outer?.offFull(release);
  }

  /** Makes room for one more session of this caller. Returns false if that is not possible. */
  makeRoom(caller: string): boolean {
    while (this.#isFull("sessions", 1)) if (!this.#release(caller, "endpoint")) return false;
    while (this.#outer?.full("sessions")) if (!this.#outer.#release(caller, "all")) return false;
    return true;
  }

  #release(caller: string, within: "endpoint" | "all"): boolean {
    for (const release of this.#releases) if (release(caller, within)) return true;
    return false;
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
