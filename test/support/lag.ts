/** Measures how long a gateway blocks: sends trivial requests again and again while other work runs. */
import { setTimeout as pause } from "node:timers/promises";
import { cpuTimeMs } from "./processes.ts";
import type { TeamProcess } from "./team-process.ts";

/** A blocked event loop would exceed this many times over. */
export const MAX_LAG_MS = 2_000;
/** Pause between two requests. Much shorter than any stall, but long enough to leave the CPU to others. */
const INTERVAL_MS = 20;

/**
 * The longest time in milliseconds that a trivial request waited during the work. Counts at most the CPU time
 * that the gateway used meanwhile, because a busy machine delays the gateway too.
 */
export async function lagDuring<T>(
  { url, pid }: Pick<TeamProcess, "url" | "pid">,
  work: () => Promise<T>,
): Promise<{ lag: number; value: T }> {
  let over = false;
  let lag = 0;
  const watching = (async () => {
    while (!over) {
      const [began, before] = [performance.now(), cpuTimeMs(pid)];
      await (await fetch(`${url}/healthz`)).arrayBuffer();
      const after = cpuTimeMs(pid);
      const cpuMs = before === undefined || after === undefined ? Number.POSITIVE_INFINITY : after - before;
      lag = Math.max(lag, Math.min(cpuMs, performance.now() - began));
      await pause(INTERVAL_MS);
    }
  })();
  const value = await work().finally(() => {
    over = true;
  });
  // The last request may still wait.
  await watching;
  return { lag, value };
}
