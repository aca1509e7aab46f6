/**
 * Kills a process group unless it is told in time that the group may live on. It is a process of its own: the
 * gateway may be stopped, blocked or killed, and its servers must end all the same before another replica
 * starts them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { ChildFailure } from "../link.ts";

/**
 * `wait` ends early with a status over 128 when a signal with a trap arrives. The group comes on stdin, with
 * the time for the first signal; if the gateway dies before that, there is nothing to kill.
 */
const SCRIPT = `
trap : USR1
echo ready
read -r group time || exit 0
while :; do
  sleep "$time" & timer=$!
  wait "$timer"
  [ $? -gt 128 ] || break
  kill "$timer" 2>/dev/null
  time=$1
done
kill -s KILL -- "-$group"
`;
const PATH = "/usr/bin:/bin";

export class Guard {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** `guardMs`: the time from one `renew` to the next. Undefined on Windows, which has no process groups. */
  static async start(guardMs: number): Promise<Guard | undefined> {
    if (process.platform === "win32") return undefined;
    const child = spawn("/bin/sh", ["-c", SCRIPT, "metamcp-guard", seconds(guardMs)], {
      // It has a group of its own, so that signals of a terminal to the gateway do not end it.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      env: { PATH },
    });
    child.stdin.on("error", () => {});
    child.unref();
    await started(child);
    return new Guard(child);
  }

  /** From now on the group of this process is killed after this time, unless `renew` is called before. */
  watch(pid: number, leftMs: number): void {
    this.#process.stdin?.end(`${pid} ${seconds(leftMs)}\n`);
  }

  renew(): void {
    this.#process.kill("SIGUSR1");
  }

  stop(): void {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid !== undefined && exitCode === null && signalCode === null) killGroup(pid);
  }
}

/** Resolves once it can be signalled: before that a signal would end it. */
function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("error", (cause) => {
      const text = 'a server with placement "one" needs /bin/sh, which cannot be started';
      reject(new ChildFailure("offline", text, { unsent: true, needsFix: true, cause }));
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
