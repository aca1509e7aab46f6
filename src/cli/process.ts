/** What every process that serves does alike: it ends when it is told to, and ends what another one left behind. */
import { join } from "node:path";
import type { Log } from "../kernel/log.ts";
import { systemClock as clock } from "../system-clock.ts";

export function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}

export async function clearOrphans(log: Log, home: string): Promise<void> {
  const { endOrphans } = await import("../child/stdio/orphans.ts");
  await endOrphans({ log, clock, runFolder: join(home, "run") });
}
