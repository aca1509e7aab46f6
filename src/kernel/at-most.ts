/** Limits how long somebody waits for work that may never end. The work itself goes on. */
import type { Clock, Timer } from "./clock.ts";

/**
 * Resolves with true when the work is done, with false if it takes longer. Rejects if the work does in time.
 */
export async function isDoneWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<false>((resolve) => {
    timer = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}
