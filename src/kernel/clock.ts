/** The clock interface. Code gets a clock as an argument, so that tests need not wait. */

/** A timer that fires later than this shows that the process was blocked. */
export const LATE_MS = 100;

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds from an arbitrary start: use only differences. */
  now(): number;
  /** Runs once after `ms`. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer;
}

interface ScheduledRun {
  readonly at: number;
  readonly run: () => void;
}

/** A clock for tests. Its time changes only by `advance`. */
export class ManualClock implements Clock {
  #now = 0;
  #queue: ScheduledRun[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, ms), run };
    this.#queue.push(entry);
    return { cancel: () => this.#drop(entry) };
  }

  /** Advances the time and runs the timers that become due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#first(end); next; next = this.#first(end)) {
      this.#drop(next);
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }

  get pending(): number {
    return this.#queue.length;
  }

  #first(end: number): ScheduledRun | undefined {
    let first: ScheduledRun | undefined;
    for (const entry of this.#queue) if (entry.at <= end && (!first || entry.at < first.at)) first = entry;
    return first;
  }

  #drop(entry: ScheduledRun): void {
    this.#queue = this.#queue.filter((other) => other !== entry);
  }
}
