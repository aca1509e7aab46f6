/**
 * The one timer behind all calls of a child. Set for the first that could fall due, and left as it is when a call ends:
 * most calls end long before, and the next finds it set already.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

/** What falls due at some time, which may change. */
export interface Appointment {
  readonly due: number;
  expire(now: number): void;
  /** Its neighbours in the list; the alarm's alone. */
  before: Appointment | undefined;
  after: Appointment | undefined;
}

export class Alarm {
  readonly #clock: Clock;
  #first: Appointment | undefined;
  #timer: Timer | undefined;
  /** When it rings. */
  #at = Number.POSITIVE_INFINITY;

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
    this.#timer?.cancel();
    this.#at = at;
    this.#timer = this.#clock.after(at - this.#clock.now(), () => this.#ring());
  }

  #ring(): void {
    const now = this.#clock.now();
    const late: Appointment[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let one = this.#first; one; one = one.after) {
      if (one.due <= now) late.push(one);
      else next = Math.min(next, one.due);
    }
    this.#at = Number.POSITIVE_INFINITY;
    if (next < this.#at) this.#set(next);
    // What one leads to may end another.
    for (const one of late) if (this.remove(one)) one.expire(now);
  }
}
