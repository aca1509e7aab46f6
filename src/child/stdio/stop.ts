/**
 * Ends processes that do not end by themselves: waits, then sends SIGTERM, then SIGKILL. Finding the
 * processes is up to the caller.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

/** The processes to end. */
export interface EndableProcesses {
  /** Whether any known process is alive. Cheap. */
  isAnyAlive(): boolean;
  /** Reads the process table and returns whether any process is alive, known before or not. */
  findAlive(): Promise<boolean>;
  /** Signals all processes that the last `findAlive` found. */
  signal(name: NodeJS.Signals): void;
  readonly survivors: readonly number[];
}

interface EndOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The server, for the log. */
  readonly name: string;
}

/** SIGTERM goes out after 50, 150, 350 and 750 ms, SIGKILL after 1,550 ms. */
const TERM_WAITS_MS = [50, 100, 200, 400];
const KILL_WAIT_MS = 800;
/** A process that is alive for so long after SIGKILL is blocked in the kernel. */
const GIVE_UP_MS = 5_000;
const POLL_MS = { first: 2, most: 10 };

/** Resolves as soon as no process is left. Processes that cannot be killed are logged. */
export async function end(processes: EndableProcesses, options: EndOptions): Promise<void> {
  const { clock, log, name } = options;
  // Timers of the clock do not keep Node running, but an exit at this point would leave children behind.
  const hold = setInterval(() => {}, 1_000_000);
  try {
    for (const ms of TERM_WAITS_MS) {
      if (await goneWithin(ms, processes, clock)) return;
      processes.signal("SIGTERM");
    }
    if (await goneWithin(KILL_WAIT_MS, processes, clock)) return;
    if (await killed(processes, clock)) return;
    log.error("processes could not be ended", { server: name, pids: processes.survivors });
  } finally {
    clearInterval(hold);
  }
}

/** If it returns false, `findAlive` has just run. */
async function goneWithin(ms: number, processes: EndableProcesses, clock: Clock): Promise<boolean> {
  const until = clock.now() + ms;
  for (let pause = POLL_MS.first; ; pause = Math.min(pause * 2, POLL_MS.most)) {
    if (!processes.isAnyAlive() && !(await processes.findAlive())) return true;
    const rest = until - clock.now();
    if (rest <= 0) return !(await processes.findAlive());
    await wait(Math.min(pause, rest), clock);
  }
}

/** Sends SIGKILL repeatedly, because a process may have forked before it was killed. */
async function killed(processes: EndableProcesses, clock: Clock): Promise<boolean> {
  const until = clock.now() + GIVE_UP_MS;
  for (let pause = POLL_MS.first; clock.now() < until; pause = Math.min(pause * 2, POLL_MS.most)) {
    processes.signal("SIGKILL");
    await wait(pause, clock);
    if (!(await processes.findAlive())) return true;
  }
  return false;
}

function wait(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
