/** The default backend: QuickJS in WebAssembly, in host processes of their own, in bubblewrap where that works. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { bubblewrapped } from "./bubblewrap.ts";
import type { LimitName } from "./executor.ts";
import { LIMITS } from "./executor.ts";
import { HostedExecutor } from "./hosted.ts";

export interface WasmOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** One host process for each run. */
  readonly perRun?: boolean;
  /** False: never; else where it is there and works. */
  readonly bubblewrap?: boolean;
  readonly mostHosts?: number;
}

/** Once it runs, nothing but frames has any use for memory there. */
export const NODE_FLAGS: readonly string[] = [
  "--no-warnings",
  "--max-old-space-size=256",
  "--disallow-code-generation-from-strings",
];

/** The bundled host, seen from the bundle and from the source. */
export function hostFile(): string {
  const places = ["./sandbox/host.js", "../sandbox/host.js", "../../dist/sandbox/host.js"];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("the sandbox host is missing from this installation");
  return file;
}

export function createWasmExecutor({
  clock,
  log,
  perRun,
  bubblewrap,
  mostHosts,
}: WasmOptions): HostedExecutor {
  return new HostedExecutor({
    backend: { name: "wasm", unsafe: false, enforced: Object.keys(LIMITS) as LimitName[] },
    clock,
    log,
    ...(perRun !== undefined && { perRun }),
    ...(mostHosts !== undefined && { mostHosts }),
    async launch() {
      const file = hostFile();
      const plain = { command: process.execPath, args: [...NODE_FLAGS, file, "wasm"] };
      const wrapped = bubblewrap === false ? undefined : await bubblewrapped(dirname(file));
      return wrapped
        ? { command: wrapped.command, args: [...wrapped.args, plain.command, ...plain.args] }
        : plain;
    },
  });
}
