/**
 * Limits requests per network address and minute. An IPv6 network counts as one address. Time is passed in.
 */
import { counterOf, networkOf } from "../access/throttle.ts";
import type { Tries } from "../store/tries.ts";

const WINDOW_MS = 60_000;
/** Beyond this number of addresses the oldest are dropped, so that memory stays bounded. */
const MAX_ADDRESSES = 10_000;

export class RateLimiter {
  readonly #limit: number;
  /** Times of requests, oldest first, by address. The most recent address is last. */
  readonly #times = new Map<string, readonly number[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns 0 and counts the request if it is allowed, otherwise the time to wait in milliseconds. */
  take(address: string, now: number): number {
    const network = networkOf(address);
    const times = (this.#times.get(network) ?? []).filter((at) => at > now - WINDOW_MS);
    const oldest = times[times.length - this.#limit];
    if (oldest !== undefined) return oldest + WINDOW_MS - now;
    this.#times.delete(network);
    this.#times.set(network, [...times, now]);
    this.#dropOld(now);
    return 0;
  }

  #dropOld(now: number): void {
    for (const [address, times] of this.#times) {
      if (this.#times.size <= MAX_ADDRESSES && (times.at(-1) ?? 0) > now - WINDOW_MS) return;
      this.#times.delete(address);
    }
  }
}

/** How long to wait while the store is away. */
const AWAY_MS = 1_000;

/** The same over all gateways on the store. What this process refuses by itself costs no statement. */
export class SharedRateLimiter {
  readonly #name: string;
  readonly #limit: number;
  readonly #here: RateLimiter;
  readonly #tries: Tries | undefined;

  /** Requests of each name are counted by themselves. */
  constructor(name: string, limit: number, tries: Tries | undefined) {
    this.#name = name;
    this.#limit = limit;
    this.#here = new RateLimiter(limit);
    this.#tries = tries;
  }

  /** As `RateLimiter.take`. Without the store nothing is allowed. */
  async take(address: string, now: number): Promise<number> {
    const wait = this.#here.take(address, now);
    if (wait > 0 || !this.#tries) return wait;
    const counter = counterOf(`${this.#name} ${networkOf(address)}`, this.#limit, WINDOW_MS);
    const tried = await this.#tries.take([counter]).catch(() => ({ waitMs: AWAY_MS }));
    return tried.waitMs;
  }
}
