/** The real clock. Its timers do not keep the process alive; streams and children do. */
import { type Clock, LATE_MS, type Timer } from "../kernel/clock.ts";

/** Node runs timers with a longer delay at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `performance` would load `node:perf_hooks`, which takes a twentieth of the time of a start. */
function now(): number {
  // By index: to take an array apart costs twice as much before V8 has compiled it, and each call asks often.
  const time = process.hrtime();
  return time[0] * 1e3 + time[1] / 1e6;
}

class SystemTimer implements Timer {
  readonly #due: number;
  readonly #run: () => void;
  readonly #timer: NodeJS.Timeout;
  #late: NodeJS.Immediate | undefined;

  constructor(ms: number, run: () => void) {
    this.#due = now() + ms;
    this.#run = run;
    this.#timer = setTimeout(fire, ms, this).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    if (this.#late) clearImmediate(this.#late);
  }

  /**
   * If the process was blocked, messages that arrived meanwhile are handled before the timer: they were in
   * time.
   */
  fire(): void {
    if (now() - this.#due < LATE_MS) this.#run();
    else this.#late = setImmediate(this.#run).unref();
  }
}

const fire = (timer: SystemTimer): void => timer.fire();

export const systemClock: Clock = {
  now,
  after: (ms, run) => new SystemTimer(Math.min(ms, MAX_TIMER_MS), run),
};
