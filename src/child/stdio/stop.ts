/** Ends what will not end by itself: how long to wait before which signal. Whom to signal is for the remains to say. */
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

/** Processes that are to end. */
export interface Remains {
  /** Cheap: whether any that are known still live. */
  stirs(): boolean;
  /** Reads the process table: whether any live, known before or not. */
  look(): Promise<boolean>;
  /** To all that the last look found. */
  signal(name: NodeJS.Signals): void;
  readonly survivors: readonly number[];
}

interface EndOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Whom this is about, for the log. */
  readonly name: string;
}

/** SIGTERM goes out after 50, 150, 350 and 750 ms, SIGKILL after 1,550 ms. */
const TERM_WAITS_MS = [50, 100, 200, 400];
const KILL_WAIT_MS = 800;
/** Who outlives SIGKILL for so long is in the kernel's hands. */
const GIVE_UP_MS = 5_000;
const POLL_MS = { first: 2, most: 10 };

/** Resolves as soon as nothing is left; what cannot be killed is reported. */
export async function end(remains: Remains, options: EndOptions): Promise<void> {
  const { clock, log, name } = options;
  // The clock keeps no process alive, but an exit in the middle of this would leave children behind.
  const hold = setInterval(() => {}, 1_000_000);
  try {
    for (const ms of TERM_WAITS_MS) {
      if (await goneWithin(ms, remains, clock)) return;
      remains.signal("SIGTERM");
    }
    if (await goneWithin(KILL_WAIT_MS, remains, clock)) return;
    if (await killed(remains, clock)) return;
    log.error("processes could not be ended", { server: name, pids: remains.survivors });
  } finally {
    clearInterval(hold);
  }
}

/** Leaves the remains freshly looked at when it says no. */
async function goneWithin(ms: number, remains: Remains, clock: Clock): Promise<boolean> {
  const until = clock.now() + ms;
  for (let pause = POLL_MS.first; ; pause = Math.min(pause * 2, POLL_MS.most)) {
    if (!remains.stirs() && !(await remains.look())) return true;
    const rest = until - clock.now();
    if (rest <= 0) return !(await remains.look());
    await wait(Math.min(pause, rest), clock);
  }
}

/** Again and again: one may have forked before it was killed. */
async function killed(remains: Remains, clock: Clock): Promise<boolean> {
  const until = clock.now() + GIVE_UP_MS;
  for (let pause = POLL_MS.first; clock.now() < until; pause = Math.min(pause * 2, POLL_MS.most)) {
    remains.signal("SIGKILL");
    await wait(pause, clock);
    if (!(await remains.look())) return true;
  }
  return false;
}

function wait(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
