/** The time that a run has in all, which stands still while somebody is asked. Nobody is waited for longer than patience lasts, which is kept elsewhere. */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface WallTimeParts {
  readonly clock: Clock;
  readonly onUp: () => void;
  /** It stands still from now on, or goes on. */
  readonly onHeld: (held: boolean) => void;
}

export class WallTime {
  readonly #parts: WallTimeParts;
  #timer: Timer | undefined;
  #holds = 0;
  /** Of it, since `#since`. */
  #leftMs = 0;
  #since = 0;
  #ended = false;

  constructor(parts: WallTimeParts) {
    this.#parts = parts;
  }

  begin(ms: number): void {
    this.#leftMs = ms;
    this.#go();
  }

  /** Several may hold it; it goes on when the last has called what this returns. */
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
      this.#go();
    };
  }

  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  #go(): void {
    const { clock, onUp } = this.#parts;
    this.#since = clock.now();
    this.#timer = clock.after(this.#leftMs, onUp);
  }
}
