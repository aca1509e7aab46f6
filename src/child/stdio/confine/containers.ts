/** The containers of confined servers: their names, and their end if the engine outlives its command. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Engine, engineEnvironment } from "../../../config/container-engine.ts";
import { LABEL } from "./container.ts";

/** A stop waits for it, as long as for a process that is blocked in the kernel. */
const ENGINE_MS = 5_000;

export function newContainer(): { readonly name: string; readonly owner: string } {
  return { name: `metamcp-${process.pid}-${randomBytes(8).toString("hex")}`, owner: hostname() };
}

/** Ends it, if it still runs. Killing the command that started it does not. */
export async function endContainer(engine: Engine, name: string): Promise<void> {
  await run(engine, ["rm", "-f", name]);
}

const swept = new Set<string>();

/** Ends what killed gateways on this machine left behind; once per engine. */
export async function sweep(engine: Engine): Promise<void> {
  if (swept.has(engine.path)) return;
  swept.add(engine.path);
  const listed = await run(engine, ["ps", `--filter=label=${LABEL}=${hostname()}`, "--format={{.Names}}"]);
  for (const name of listed.split("\n")) {
    const pid = Number(/^metamcp-(\d+)-/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) await endContainer(engine, name);
  }
}

async function run({ path }: Engine, args: readonly string[]): Promise<string> {
  return await new Promise((resolve) => {
    const options = {
      timeout: ENGINE_MS,
      killSignal: "SIGKILL",
      env: engineEnvironment(),
      cwd: "/",
    } as const;
    execFile(path, args, options, (error, printed) => resolve(error ? "" : printed));
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
