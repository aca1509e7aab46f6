/** A process on a terminal of its own, by way of python3, which most machines have. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { until } from "./until.ts";

const SPAWN = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** As wide as terminals are by default. */
const SIZED = 'stty cols 80; exec "$@"';

/** Why there is none, or undefined. */
export function noTerminal(): string | undefined {
  if (process.platform === "win32") return "no pseudo terminals on this system";
  const { status } = spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]);
  return status === 0 ? undefined : "python3 3.9 or newer is not there";
}

export class PseudoTerminal {
  /** All that was shown so far, what was typed included. */
  screen = "";
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcessWithoutNullStreams;

  /** Call inside a test: what still runs when the test is over is killed. */
  constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    const child = spawn("python3", ["-c", SPAWN, "sh", "-c", SIZED, "sh", ...command], {
      cwd,
      env: { ...env, TERM: "dumb" },
      stdio: "pipe",
    });
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => (this.screen += chunk.toString()));
    this.exited = new Promise((resolve) => child.once("close", resolve));
    // Its terminal goes with it, and what runs there hears of that.
    onTestFinished(() => void child.kill("SIGKILL"));
    this.#process = child;
  }

  async sees(part: string | RegExp): Promise<void> {
    await until(() => (typeof part === "string" ? this.screen.includes(part) : part.test(this.screen)), {
      what: `${part} on the screen`,
    }).catch((error: Error) => {
      throw new Error(`${error.message}; there is: ${this.screen}`);
    });
  }

  type(text: string): void {
    this.#process.stdin.write(text);
  }
}
