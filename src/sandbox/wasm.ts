/**
 * The default backend: QuickJS in WebAssembly, in separate host processes, inside bubblewrap if that works.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { bubblewrapped } from "./bubblewrap.ts";
import type { LimitName } from "./executor.ts";
import { LIMITS } from "./executor.ts";
import type { RunUser } from "./host-process.ts";
import { HostedExecutor } from "./hosted.ts";

export interface WasmOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Start one host process for each run. */
  readonly perRun?: boolean;
  /** Default: used if it is installed and works. False: never used. */
  readonly bubblewrap?: boolean;
  readonly maxHosts?: number;
  readonly maxServed?: number | undefined;
  /** Default: the user of this process. */
  readonly user?: RunUser | undefined;
}

/** The heap of the host holds only frames; the memory of the engines is outside it. */
export const NODE_FLAGS: readonly string[] = [
  "--no-warnings",
  "--max-old-space-size=256",
  "--disallow-code-generation-from-strings",
];

/** The path of the bundled host, relative to the bundle or to the source. */
export function hostFile(): string {
  const candidates = ["./sandbox/host.js", "../sandbox/host.js", "../../dist/sandbox/host.js"];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("the sandbox host is missing from this installation");
  return file;
}

export function createWasmExecutor({
  clock,
  log,
  perRun,
  bubblewrap,
  maxHosts,
  maxServed,
  user,
}: WasmOptions): HostedExecutor {
  return new HostedExecutor({
    backend: { name: "wasm", unsafe: false, enforced: Object.keys(LIMITS) as LimitName[] },
    clock,
    log,
    ...(perRun !== undefined && { perRun }),
    ...(maxHosts !== undefined && { maxHosts }),
    ...(maxServed !== undefined && { maxServed }),
    async launch() {
      const file = hostFile();
      const plain = { command: process.execPath, args: [...NODE_FLAGS, file, "wasm"], user };
      const wrapped = bubblewrap === false ? undefined : await bubblewrapped(dirname(file), user);
      return wrapped
        ? { ...plain, command: wrapped.command, args: [...wrapped.args, plain.command, ...plain.args] }
        : plain;
    },
  });
}
