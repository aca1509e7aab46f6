/**
 * Shared by all serving processes: waits for a stop signal, and ends processes that a killed MetaMCP left
 * behind.
 */
import { join } from "node:path";
import type { ChildUser } from "../child/child-user.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import type { Log } from "../kernel/log.ts";

const STOP = ["SIGINT", "SIGTERM"] as const;

/**
 * Resolves at the first SIGINT or SIGTERM. SIGHUP stops too, or runs `reload` if that is given. At a terminal
 * it always stops, because there it means that the terminal was closed.
 */
export function stopSignal(reload?: () => void): Promise<void> {
  const reloads = reload !== undefined && !process.stderr.isTTY && !process.stdin.isTTY;
  return new Promise((resolve) => {
    for (const signal of STOP) process.on(signal, () => resolve());
    process.on("SIGHUP", reloads ? reload : () => resolve());
  });
}

export async function clearOrphans(log: Log, home: string, user?: ChildUser): Promise<void> {
  const { endOrphans } = await import("../child/stdio/orphans.ts");
  await endOrphans({ log, clock, runFolder: join(home, "run"), user });
}
