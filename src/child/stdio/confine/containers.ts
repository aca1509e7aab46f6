/** The containers of confined servers: their names, and their end if the engine outlives its command. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type Engine, engineEnvironment } from "../../../config/container-engine.ts";
import { isAlive } from "../../../home/process-alive.ts";
import { LABEL } from "./container.ts";

/** A stop waits for it, as long as for a process that is blocked in the kernel. */
const ENGINE_MS = 5_000;
const POLL_MS = 50;

export function newContainer(): { readonly name: string; readonly owner: string } {
  return { name: `metamcp-${process.pid}-${randomBytes(8).toString("hex")}`, owner: hostname() };
}

/**
 * Resolves when it is removed, or after that time. Killing the command that started it does not end it, and
 * an engine that is removing it already refuses to do so again.
 */
export async function endContainer(engine: Engine, name: string, withinMs = ENGINE_MS): Promise<void> {
  const signal = AbortSignal.timeout(withinMs);
  if ((await run(engine, ["rm", "-f", name], signal)) !== undefined) return;
  while (await run(engine, ["ps", "-a", "-q", `--filter=name=${name}`], signal))
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
}

const swept = new Set<string>();

/** Ends what killed gateways on this machine left behind; once per engine. */
export async function sweep(engine: Engine): Promise<void> {
  if (swept.has(engine.path)) return;
  swept.add(engine.path);
  const left = ["ps", `--filter=label=${LABEL}=${hostname()}`, "--format={{.Names}}"];
  const listed = await run(engine, left, AbortSignal.timeout(ENGINE_MS));
  for (const name of listed?.split("\n") ?? []) {
    const pid = Number(/^metamcp-(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) await endContainer(engine, name);
  }
}

/** What it prints; undefined if it fails. */
async function run(
  { path }: Engine,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const options = { signal, killSignal: "SIGKILL", env: engineEnvironment(), cwd: "/" } as const;
    execFile(path, args, options, (error, printed) => resolve(error ? undefined : printed));
  });
}
