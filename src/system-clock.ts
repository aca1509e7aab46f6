/** The real clock. Its timers do not keep the process alive: streams and children do. */
import type { Clock } from "./kernel/clock.ts";

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
