/** Runs a command of the built product without a terminal. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { atEnd } from "./shared.ts";
import { ROOT, type Temp } from "./temp.ts";

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in the folder. `input` is its stdin. */
export async function metamcp(folder: Temp, args: readonly string[], input?: string): Promise<CommandResult> {
  const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), ...args], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: "pipe",
  });
  atEnd(() => void child.kill("SIGKILL"));
  child.stdin.end(input);
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, err };
}
