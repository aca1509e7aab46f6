/** Limits the number of sessions and of requests in flight, at one endpoint and at all together. It counts, and chooses the sessions that end for others; its user must refuse. */
import { deadSession, type OpenSession, sharedSession } from "./yielding-session.ts";

export interface ConcurrencyLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

/** Returns sessions that may end in favour of others. */
export type YieldingSessions = () => readonly (OpenSession & { end(): void })[];

export class ConcurrencyLimiter {
  readonly #limits: () => ConcurrencyLimits;
  readonly #outer: ConcurrencyLimiter | undefined;
  readonly #counts = { sessions: 0, inFlight: 0 };
  readonly #yielding = new Set<YieldingSessions>();

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

  /** Registers sessions that may end, here and at the outer limit. */
  onFull(sessions: YieldingSessions): void {
    this.#yielding.add(sessions);
    this.#outer?.onFull(sessions);
  }

  offFull(sessions: YieldingSessions): void {
    this.#yielding.delete(sessions);
    this.#outer?.offFull(sessions);
  }

  /** Makes room for one more session of this caller. Returns false if that is not possible. */
  makeRoom(caller: string): boolean {
    while (this.#isFull("sessions", 1)) if (!this.#endOne(caller)) return false;
    return this.#outer?.makeRoom(caller) ?? true;
  }

  /** Considers all sessions together, so that nobody gets more places by spreading over transports and endpoints. */
  #endOne(caller: string): boolean {
    const open = [...this.#yielding].flatMap((sessions) => sessions());
    const yielding = deadSession(open, caller) ?? sharedSession(open, caller);
    yielding?.end();
    return yielding !== undefined;
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
