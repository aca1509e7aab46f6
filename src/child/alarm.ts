/**
 * The one timer behind all calls of a child. Set for the first that could fall due, and left as it is when a call ends:
 * most calls end long before, and the next finds it set already.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { CallTimer } from "./call-timer.ts";

export class Alarm {
  readonly #clock: Clock;
  #first: CallTimer | undefined;
  #timer: Timer | undefined;
  /** When it rings. */
  #at = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(timer: CallTimer): void {
    timer.after = this.#first;
    if (this.#first) this.#first.before = timer;
    this.#first = timer;
    this.sooner(timer);
  }

  /** False: it was not there any more. */
  remove(timer: CallTimer): boolean {
    const { before, after } = timer;
    if (!before && this.#first !== timer) return false;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    timer.before = undefined;
    timer.after = undefined;
    return true;
  }

  /** It may fall due before what the alarm is set for. */
  sooner({ due }: CallTimer): void {
    if (due < this.#at) this.#set(due);
  }

  #set(at: number): void {
    this.#timer?.cancel();
    this.#at = at;
    this.#timer = this.#clock.after(at - this.#clock.now(), () => this.#ring());
  }

  #ring(): void {
    const now = this.#clock.now();
    const late: CallTimer[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (let timer = this.#first; timer; timer = timer.after) {
      if (timer.due <= now) late.push(timer);
      else next = Math.min(next, timer.due);
    }
    this.#at = Number.POSITIVE_INFINITY;
    if (next < this.#at) this.#set(next);
    // What one leads to may end another.
    for (const timer of late) if (this.remove(timer)) timer.expire(now);
  }
}
