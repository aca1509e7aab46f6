/**
 * The time limit of a whole run. It is paused while a person or a model is asked; that waiting has its own
 * timeout elsewhere.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface WallTimeParts {
  readonly clock: Clock;
  readonly onUp: () => void;
  /** Called when the time is paused or resumed. */
  readonly onHeld: (held: boolean) => void;
}

export class WallTime {
  readonly #parts: WallTimeParts;
  #timer: Timer | undefined;
  #holds = 0;
  /** Time left at `#since`. */
  #leftMs = 0;
  #since = 0;
  #ended = false;

  constructor(parts: WallTimeParts) {
    this.#parts = parts;
  }

  begin(ms: number): void {
    this.#leftMs = ms;
    this.#resume();
  }

  /** Pauses the time. It resumes when every returned function was called. */
  hold(): () => void {
    const { clock, onHeld } = this.#parts;
    if (this.#holds++ === 0) {
      this.#timer?.cancel();
      this.#leftMs = Math.max(0, this.#leftMs - (clock.now() - this.#since));
      onHeld(true);
    }
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#holds > 0 || this.#ended) return;
      onHeld(false);
      this.#resume();
    };
  }

  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  #resume(): void {
    const { clock, onUp } = this.#parts;
    this.#since = clock.now();
    this.#timer = clock.after(this.#leftMs, onUp);
  }
}
