/**
 * Limits the number of sessions and of requests in flight, at one endpoint and at all together. It counts,
 * and chooses the sessions that end for others; its user must refuse.
 */
import type { Places, SharedCounts } from "./counts.ts";
import { MetaMcpError } from "./errors.ts";
import { LocalPlaces } from "./local-places.ts";
import { deadSession, type OpenSession, sharedSession } from "./yielding-session.ts";

export interface ConcurrencyLimits {
  readonly sessions?: number;
  readonly inFlight?: number;
}

export interface SharedLimits {
  readonly counts: SharedCounts;
  /** Names the limits in the same way at each replica. */
  readonly place: string;
}

/** Returns sessions that may end in favour of others. */
export type YieldingSessions = () => readonly (OpenSession & { end(): void })[];

export class ConcurrencyLimiter {
  readonly #outer: ConcurrencyLimiter | undefined;
  readonly #places: Readonly<Record<keyof ConcurrencyLimits, Places>>;
  readonly #shared: boolean;
  readonly #yielding = new Set<YieldingSessions>();

  /** `outer`: an outer limit, where everything is counted too. `shared`: if replicas count together. */
  constructor(limits: () => ConcurrencyLimits, outer?: ConcurrencyLimiter, shared?: SharedLimits) {
    const places = (what: keyof ConcurrencyLimits): Places => {
      const most = (): number | undefined => limits()[what];
      return shared?.counts.places(`${shared.place} ${what}`, { most }) ?? new LocalPlaces(most);
    };
    this.#places = { sessions: places("sessions"), inFlight: places("inFlight") };
    this.#shared = shared !== undefined;
    this.#outer = outer;
  }

  /**
   * Resolves when `full` and `makeRoom` know about so many more, having asked the other replicas; undefined
   * if they know.
   */
  ready(what: keyof ConcurrencyLimits, more = 1): Promise<unknown> | undefined {
    if (!this.#shared) return undefined;
    const own = this.#places[what].ready?.(more);
    const outer = this.#outer?.ready(what, more);
    return own && outer ? Promise.all([own, outer]) : (own ?? outer);
  }

  /** Whether this many more would be over the limit. */
  full(what: keyof ConcurrencyLimits, more = 1): boolean {
    return this.#places[what].full(more) || (this.#outer?.full(what, more) ?? false);
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
    while (this.#places.sessions.full()) if (!this.#endOne(caller)) return false;
    return this.#outer?.makeRoom(caller) ?? true;
  }

  /**
   * Considers all sessions together, so that nobody gets more places by spreading over transports and
   * endpoints.
   */
  #endOne(caller: string): boolean {
    const open = [...this.#yielding].flatMap((sessions) => sessions());
    const yielding = deadSession(open, caller) ?? sharedSession(open, caller);
    yielding?.end();
    return yielding !== undefined;
  }

  enter(what: keyof ConcurrencyLimits): void {
    this.#places[what].enter();
    this.#outer?.enter(what);
  }

  leave(what: keyof ConcurrencyLimits): void {
    this.#places[what].leave();
    this.#outer?.leave(what);
  }

  /**
   * Counts a request until it settles. Its errors are passed on. Rejects if replicas count together and the
   * limit is reached.
   */
  serve<T>(request: () => Promise<T>): Promise<T> {
    if (!this.#shared) return this.#count(request);
    return this.ready("inFlight")?.then(() => this.#countOrRefuse(request)) ?? this.#countOrRefuse(request);
  }

  #countOrRefuse<T>(request: () => Promise<T>): Promise<T> {
    return this.full("inFlight") ? Promise.reject(tooMany()) : this.#count(request);
  }

  #count<T>(request: () => Promise<T>): Promise<T> {
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

function tooMany(): MetaMcpError {
  return new MetaMcpError("rate_limited", "Too many requests at once. Try again later.");
}
