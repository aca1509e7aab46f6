/**
 * One timer for the timeouts of many calls. It is set for the earliest due time and stays set when a call
 * ends: most calls end long before they are due, and the next call finds the timer already set.
 */
import { type Clock, LATE_MS, type Timer } from "../kernel/clock.ts";

/** A timeout in the alarm. Its due time may change. */
export interface Timeout {
  readonly due: number;
  expire(now: number): void;
  /** Neighbours in the linked list; only the alarm uses them. */
  before: Timeout | undefined;
  after: Timeout | undefined;
}

/**
 * The most extra time after the process was blocked. Before a late timer fires, the event loop reads pending
 * input once, but many calls may wait for input that takes more than one read.
 */
const MAX_GRACE_MS = 1_000;

export class Alarm {
  readonly #clock: Clock;
  #first: Timeout | undefined;
  #timer: Timer | undefined;
  /** When the timer fires. */
  #at = Number.POSITIVE_INFINITY;
  /**
   * Timeouts that were due until this time already got extra time. They get no more, because the process may
   * stay slow.
   */
  #graceGivenUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(timeout: Timeout): void {
    timeout.after = this.#first;
    if (this.#first) this.#first.before = timeout;
    this.#first = timeout;
    this.moved(timeout);
  }

  /** Returns false if it was already removed. */
  remove(timeout: Timeout): boolean {
    const { before, after } = timeout;
    if (!before && this.#first !== timeout) return false;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    timeout.before = undefined;
    timeout.after = undefined;
    return true;
  }

  /** The due time changed and may be earlier than the timer. */
  moved({ due }: Timeout): void {
    if (due < this.#at) this.#set(due);
  }

  #set(at: number): void {
    const now = this.#clock.now();
    this.#timer?.cancel();
    this.#at = Math.max(at, now);
    this.#timer = this.#clock.after(at - now, () => this.#fire());
  }

  #fire(): void {
    const now = this.#clock.now();
    const lateMs = now - this.#at;
    const wasBlocked = lateMs > LATE_MS;
    const until = wasBlocked ? this.#graceGivenUntil : now;
    const expired: Timeout[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let timeout = this.#first; timeout; timeout = timeout.after) {
      if (timeout.due <= until) expired.push(timeout);
      else next = Math.min(next, timeout.due);
    }
    if (wasBlocked) {
      // Answers that arrived meanwhile may need more than one read.
      this.#graceGivenUntil = now;
      next = Math.max(next, now + Math.min(lateMs, MAX_GRACE_MS));
    }
    this.#at = Number.POSITIVE_INFINITY;
    if (next < this.#at) this.#set(next);
    // `expire` of one timeout may remove another one.
    for (const timeout of expired) if (this.remove(timeout)) timeout.expire(now);
  }
}
