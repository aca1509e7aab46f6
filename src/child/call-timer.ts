/** How long one call may be silent and how long it may take in all. Stands still while a person or a model is asked. */
import type { Clock, Timer } from "../kernel/clock.ts";

/** Nobody is waited for longer than this. */
const PAUSE_MOST_MS = 600_000;

export interface CallLimits {
  readonly silenceMs: number;
  /** Absolute. */
  readonly deadline: number;
}

export class CallTimer {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #expired: (waitedMs: number) => void;
  #deadline: number;
  #heard: number;
  #timer: Timer;
  #pauses = 0;
  #pausedAt = 0;

  constructor(clock: Clock, limits: CallLimits, expired: (waitedMs: number) => void) {
    this.#clock = clock;
    this.#silenceMs = limits.silenceMs;
    this.#deadline = limits.deadline;
    this.#expired = expired;
    this.#heard = clock.now();
    this.#timer = this.#arm(this.#heard);
  }

  /** The child was heard: silence begins anew. */
  touch(): void {
    this.#heard = this.#clock.now();
  }

  pause(): void {
    if (this.#pauses++ > 0) return;
    this.#pausedAt = this.#clock.now();
    this.#timer.cancel();
    this.#timer = this.#clock.after(PAUSE_MOST_MS, () => this.#check());
  }

  resume(): void {
    if (this.#pauses === 0 || --this.#pauses > 0) return;
    const now = this.#clock.now();
    this.#deadline += Math.min(now - this.#pausedAt, PAUSE_MOST_MS);
    this.#heard = now;
    this.#timer.cancel();
    this.#timer = this.#arm(now);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #due(): number {
    return Math.min(this.#heard + this.#silenceMs, this.#deadline);
  }

  #arm(now: number): Timer {
    return this.#clock.after(this.#due() - now, () => this.#check());
  }

  /** `touch` is hot and only notes the time; whoever fires too early waits for the rest. */
  #check(): void {
    const now = this.#clock.now();
    if (this.#pauses === 0 && now < this.#due()) this.#timer = this.#arm(now);
    else this.#expired(now - this.#heard);
  }
}
