/**
 * The timers of one run, limited in number. Calls `fire` with the id of a due timer; the guest keeps the
 * callbacks.
 */
// Imported, because code that runs in this same process can replace the global functions.
import { clearTimeout, setTimeout } from "node:timers";

const MAX_TIMERS = 1_000;

export class GuestTimers {
  readonly #longestMs: number;
  readonly #fire: (id: string) => void;
  readonly #byId = new Map<string, NodeJS.Timeout>();
  #last = 0;

  constructor(longestMs: number, fire: (id: string) => void) {
    this.#longestMs = longestMs;
    this.#fire = fire;
  }

  /**
   * Returns the id of the timer, or an empty string if there are too many. `repeatedId` is the id of an
   * interval that is set again.
   */
  set(ms: number, repeatedId: string): string {
    if (this.#byId.size >= MAX_TIMERS) return "";
    const id = repeatedId || String(++this.#last);
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
