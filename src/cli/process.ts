/** Shared by all serving processes: waits for a stop signal, and ends processes that a killed MetaMCP left behind. */
import { join } from "node:path";
import type { ChildUser } from "../child/child-user.ts";
import type { Log } from "../kernel/log.ts";
import { systemClock as clock } from "../system-clock.ts";

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}

export async function clearOrphans(log: Log, home: string, user?: ChildUser): Promise<void> {
  const { endOrphans } = await import("../child/stdio/orphans.ts");
  await endOrphans({ log, clock, runFolder: join(home, "run"), user });
}
