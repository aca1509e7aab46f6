/** How long a gateway keeps others waiting: what a stranger sees who asks it for next to nothing, again and again. */
import { setTimeout as pause } from "node:timers/promises";
import { computed } from "./processes.ts";
import type { TeamGateway } from "./team-gateway.ts";

/** What a stall would exceed many times over. */
export const MOST_LAG_MS = 2_000;
/** Between two requests: far less than any stall, and enough for a core to do something else. */
const EVERY_MS = 20;

/**
 * The longest that one trivial request waited while the work went on, in milliseconds. What the gateway did not compute
 * meanwhile does not count: the machine kept it waiting too.
 */
export async function lagDuring<T>(
  { url, pid }: Pick<TeamGateway, "url" | "pid">,
  work: () => Promise<T>,
): Promise<{ lag: number; value: T }> {
  let over = false;
  let lag = 0;
  const watching = (async () => {
    while (!over) {
      const [began, before] = [performance.now(), computed(pid)];
      await (await fetch(`${url}/healthz`)).arrayBuffer();
      const after = computed(pid);
      const own = before === undefined || after === undefined ? Number.POSITIVE_INFINITY : after - before;
      lag = Math.max(lag, Math.min(own, performance.now() - began));
      await pause(EVERY_MS);
    }
  })();
  const value = await work().finally(() => {
    over = true;
  });
  // Who asked in the meantime may still wait.
  await watching;
  return { lag, value };
}
