/**
 * The `dev` backend: one Node process per run, with all rights of its user. Not a sandbox; every outcome has
 * `unsafe: true`.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { LIMITS_FROM_OUTSIDE } from "./executor.ts";
import type { RunUser } from "./host-process.ts";
import { HostedExecutor } from "./hosted.ts";
import { hostFile } from "./wasm.ts";

export function createProcessExecutor(parts: {
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the user of this process. */
  readonly user?: RunUser | undefined;
}): HostedExecutor {
  return new HostedExecutor({
    ...parts,
    backend: {
      name: "process",
      unsafe: true,
      // Endless computing ends because the silent host is killed. Memory outside the heap has no limit here.
      enforced: LIMITS_FROM_OUTSIDE,
    },
    perRun: true,
    launch: () => ({
      command: process.execPath,
      args: ["--no-warnings", "--max-old-space-size=256", hostFile(), "node"],
      user: parts.user,
    }),
  });
}
