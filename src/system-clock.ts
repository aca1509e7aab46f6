/** The real clock. Its timers do not keep the process alive: streams and children do. */
import type { Clock } from "./kernel/clock.ts";

/** Node takes a longer wait for no wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
