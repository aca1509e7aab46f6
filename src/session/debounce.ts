/**
 * Runs a function once after a burst of events. A continuous stream of events delays it only up to a limit.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface DebounceOptions {
  /** Run when no event came for this long. */
  readonly quietMs: number;
  /** Run at the latest this long after the first event. */
  readonly mostMs: number;
}

export class Debounce {
  readonly #clock: Clock;
  readonly #options: DebounceOptions;
  readonly #run: () => void;
  #timer: Timer | undefined;
  #first = 0;

  constructor(clock: Clock, options: DebounceOptions, run: () => void) {
    this.#clock = clock;
    this.#options = options;
    this.#run = run;
  }

  touch(): void {
    const { quietMs, mostMs } = this.#options;
    const now = this.#clock.now();
    if (this.#timer) this.#timer.cancel();
    else this.#first = now;
    this.#timer = this.#clock.after(Math.min(quietMs, this.#first + mostMs - now), () => {
      this.#timer = undefined;
      this.#run();
    });
  }
}
