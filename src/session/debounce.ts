/** Gathers events that come close together into one, without letting a stream of them put it off for ever. */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface DebounceOptions {
  /** It must have been quiet for so long … */
  readonly quietMs: number;
  /** … but nobody waits longer than this. */
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
