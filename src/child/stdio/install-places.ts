/**
 * Lets only a few starts install at the same time: many at once are slow, and slow ones were given up in the
 * middle of it.
 */
import type { Clock } from "../../kernel/clock.ts";
import { type Signal, unlessAborted } from "../../kernel/signal.ts";

const PLACES = 2;
const LOOK_MS = 250;

export class InstallPlaces {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #free = PLACES;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it is this start's turn. The returned function gives the place back, once. */
  async take(signal: Signal): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else {
      const turn = new Promise<void>((resolve) => void this.#waiting.push(resolve));
      await unlessAborted(turn, signal).catch((error: unknown) => {
        // The turn may come all the same.
        void turn.then(() => this.#give());
        throw error;
      });
    }
    let held = true;
    return () => {
      if (held) this.#give();
      held = false;
    };
  }

  /** Gives the place back as soon as the start no longer installs. */
  giveBackWhen(isDone: () => boolean, giveBack: () => void): void {
    const look = (): void => {
      if (isDone()) giveBack();
      else this.#clock.after(LOOK_MS, look);
    };
    look();
  }

  #give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
