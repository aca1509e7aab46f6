/** A timer that can be paused, for calls: it does not run while somebody is asked about the call. */
import type { Clock, Timer } from "../kernel/clock.ts";

export class PausableTimer {
  readonly #clock: Clock;
  readonly #ms: number | undefined;
  readonly #onUp: () => void;
  #timer: Timer | undefined;
  #holds = 0;
  #since: number;
  #before = 0;
  #over = false;

  /** Without `ms` it only measures time. */
  constructor(ms: number | undefined, clock: Clock, onUp: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onUp = onUp;
    this.#since = clock.now();
    this.#start();
  }

  /** How long it has run (ms), without pauses. */
  get ran(): number {
    return this.#before + (this.#holds === 0 ? this.#clock.now() - this.#since : 0);
  }

  /** Pauses until the returned function is called. Pauses may overlap. */
  hold(): () => void {
    this.#before = this.ran;
    this.#holds += 1;
    this.#timer?.cancel();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      this.#since = this.#clock.now();
      this.#start();
    };
  }

  end(): void {
    this.#over = true;
    this.#timer?.cancel();
  }

  #start(): void {
    if (this.#ms === undefined || this.#over) return;
    this.#timer = this.#clock.after(Math.max(0, this.#ms - this.#before), this.#onUp);
  }
}
