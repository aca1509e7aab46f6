/** The built command line, run once without a terminal. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT, type Temp } from "./temp.ts";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs it in the folder; `input` is its stdin. */
export async function metamcp(folder: Temp, args: readonly string[], input?: string): Promise<Ended> {
  const child = spawn(process.execPath, [join(ROOT, "dist/metamcp.js"), ...args], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: "pipe",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.end(input);
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, err };
}
