/** Time is passed in, never taken, so that machines and pools are tested without waiting. */

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** Runs once after `ms`. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer;
}

/** A clock for tests that stands still until told to move. */
export class ManualClock implements Clock {
  #now = 0;
  #queue: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, ms), run };
    this.#queue.push(entry);
    return {
      cancel: () => {
        this.#queue = this.#queue.filter((other) => other !== entry);
      },
    };
  }

  /** Moves time on, running what falls due in its order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#queue.reduce<(typeof this.#queue)[number] | undefined>(
        (first, entry) => (entry.at <= end && (!first || entry.at < first.at) ? entry : first),
        undefined,
      );
      if (!next) break;
      this.#queue = this.#queue.filter((entry) => entry !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }

  get pending(): number {
    return this.#queue.length;
  }
}
