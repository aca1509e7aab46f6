/** Runs a process at a pseudo terminal, with the help of python3. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { atEnd } from "./shared.ts";
import { until } from "./until.ts";

const SPAWN = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** Sets the usual width of 80 columns. */
const SIZED = 'stty cols 80; exec "$@"';

/** The reason if pseudo terminals are not available. */
export function noTerminal(): string | undefined {
  if (process.platform === "win32") return "no pseudo terminals on this system";
  const { status } = spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]);
  return status === 0 ? undefined : "python3 3.9 or newer is not there";
}

export class PseudoTerminal {
  /** All output so far, including the typed text. */
  screen = "";
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcessWithoutNullStreams;

  /** Call inside a test. The process is killed at the end of the test. */
  constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    const child = spawn("python3", ["-c", SPAWN, "sh", "-c", SIZED, "sh", ...command], {
      cwd,
      env: { ...env, TERM: "dumb" },
      stdio: "pipe",
    });
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => (this.screen += chunk.toString()));
    this.exited = new Promise((resolve) => child.once("close", resolve));
    // This closes the terminal, and the process in it gets SIGHUP.
    atEnd(() => void child.kill("SIGKILL"));
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
