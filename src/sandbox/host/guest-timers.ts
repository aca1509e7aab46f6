/** The timers of one run: so many at once and no more. What is to happen when one fires is its owner's. */
// The code may have put its own in the place of the global ones, where it runs in this very process.
import { clearTimeout, setTimeout } from "node:timers";

const MOST = 1_000;

export class GuestTimers {
  readonly #longestMs: number;
  readonly #fire: (id: string) => void;
  readonly #byId = new Map<string, NodeJS.Timeout>();
  #last = 0;

  constructor(longestMs: number, fire: (id: string) => void) {
    this.#longestMs = longestMs;
    this.#fire = fire;
  }

  /** The id of the timer: `known` where it is one that fires again. Empty: there are too many. */
  set(ms: number, known: string): string {
    if (this.#byId.size >= MOST) return "";
    const id = known || String(++this.#last);
    const due = (): void => {
      this.#byId.delete(id);
      this.#fire(id);
    };
    this.#byId.set(id, setTimeout(due, Math.min(ms, this.#longestMs)));
    return id;
  }

  clear(id: string): void {
    clearTimeout(this.#byId.get(id));
    this.#byId.delete(id);
  }

  end(): void {
    for (const timer of this.#byId.values()) clearTimeout(timer);
  }
}
