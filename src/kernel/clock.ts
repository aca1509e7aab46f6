/** Time is passed in, never taken, so that machines and pools are tested without waiting. */

/** Only a process that was kept from running hears of a timer so late. */
export const LATE_MS = 100;

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** Runs once after `ms`. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer;
}

interface Appointment {
  readonly at: number;
  readonly run: () => void;
}

/** A clock for tests that stands still until told to move. */
export class ManualClock implements Clock {
  #now = 0;
  #queue: Appointment[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, ms), run };
    this.#queue.push(entry);
    return { cancel: () => this.#drop(entry) };
  }

  /** Moves time on, running what falls due in its order. */
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

  #first(end: number): Appointment | undefined {
    let first: Appointment | undefined;
    for (const entry of this.#queue) if (entry.at <= end && (!first || entry.at < first.at)) first = entry;
    return first;
  }

  #drop(entry: Appointment): void {
    this.#queue = this.#queue.filter((other) => other !== entry);
  }
}
