/**
 * The one timer behind all calls of a child. Set for the first that could fall due, and left as it is when a call ends:
 * most calls end long before, and the next finds it set already.
 */
import { type Clock, LATE_MS, type Timer } from "../kernel/clock.ts";

/** What falls due at some time, which may change. */
export interface Appointment {
  readonly due: number;
  expire(now: number): void;
  /** Its neighbours in the list; the alarm's alone. */
  before: Appointment | undefined;
  after: Appointment | undefined;
}

/** The most that a call is given on top. The clock lets us look once at what came before a late timer fires; here many calls wait for what came. */
const MOST_GRACE_MS = 1_000;

export class Alarm {
  readonly #clock: Clock;
  #first: Appointment | undefined;
  #timer: Timer | undefined;
  /** When it rings. */
  #at = Number.POSITIVE_INFINITY;
  /** What fell due until then, unnoticed, was given more time, and is given no more: we may be slow for ever. */
  #excused = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(one: Appointment): void {
    one.after = this.#first;
    if (this.#first) this.#first.before = one;
    this.#first = one;
    this.sooner(one);
  }

  /** False: it was not there any more. */
  remove(one: Appointment): boolean {
    const { before, after } = one;
    if (!before && this.#first !== one) return false;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    one.before = undefined;
    one.after = undefined;
    return true;
  }

  /** It may fall due before what the alarm is set for. */
  sooner({ due }: Appointment): void {
    if (due < this.#at) this.#set(due);
  }

  #set(at: number): void {
    const now = this.#clock.now();
    this.#timer?.cancel();
    this.#at = Math.max(at, now);
    this.#timer = this.#clock.after(at - now, () => this.#ring());
  }

  #ring(): void {
    const now = this.#clock.now();
    const lateMs = now - this.#at;
    const stoodStill = lateMs > LATE_MS;
    const until = stoodStill ? this.#excused : now;
    const late: Appointment[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let one = this.#first; one; one = one.after) {
      if (one.due <= until) late.push(one);
      else next = Math.min(next, one.due);
    }
    if (stoodStill) {
      // What was said meanwhile is more than one look takes in.
      this.#excused = now;
      next = Math.max(next, now + Math.min(lateMs, MOST_GRACE_MS));
    }
    this.#at = Number.POSITIVE_INFINITY;
    if (next < this.#at) this.#set(next);
    // What one leads to may end another.
    for (const one of late) if (this.remove(one)) one.expire(now);
  }
}
