/** How long a gateway keeps others waiting: what a stranger sees who asks it for next to nothing, again and again. */

/** What a stall would exceed many times over, and a busy machine does not. */
export const MOST_LAG_MS = 2_000;

/** The longest answer to one trivial request while the work goes on, in milliseconds. */
export async function lagDuring<T>(url: string, work: () => Promise<T>): Promise<{ lag: number; value: T }> {
  let over = false;
  let lag = 0;
  const watching = (async () => {
    while (!over) {
      const began = performance.now();
      await (await fetch(`${url}/healthz`)).arrayBuffer();
      lag = Math.max(lag, performance.now() - began);
    }
  })();
  const value = await work().finally(() => {
    over = true;
  });
  // Who asked in the meantime may still wait.
  await watching;
  return { lag, value };
}
