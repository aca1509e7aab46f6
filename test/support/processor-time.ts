/**
 * For `npm test -- --times`: appends the processor time and the elapsed time of each test file to the file
 * METAMCP_TEST_TIMES, one JSON object per line.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";

interface Times {
  /** Processor time of the worker itself. */
  readonly own: number;
  /** Of the processes that it started, ended or not, as Chromium runs on. Without /proc 0. */
  readonly started: number;
  readonly elapsed: number;
}

function now(): Times {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  const elapsed = performance.now() / 1_000;
  const all = existsSync("/proc/self/stat") ? processes() : [];
  return { own, started: startedBy(process.pid, all) * TICK_S, elapsed };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Ticks of its own, and of its children that have ended. */
  readonly own: number;
  readonly ended: number;
}

function startedBy(pid: number, all: readonly Process[]): number {
  const running = all.filter(({ parent }) => parent === pid);
  const ended = all.find((one) => one.pid === pid)?.ended ?? 0;
  return running.reduce((sum, one) => sum + one.own + startedBy(one.pid, all), ended);
}

function processes(): readonly Process[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const [own, ended] = [11, 13].map((at) => (fields[at] as number) + (fields[at + 1] as number));
      return [{ pid: Number(pid), parent: fields[1] as number, own: own as number, ended: ended as number }];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

/** The unit of times in /proc, the same on all machines. */
const TICK_S = 0.01;

const from = now();
let file: string | undefined;
beforeAll(() => {
  file = expect.getState().testPath;
});
afterAll(() => {
  const to = now();
  const line = JSON.stringify({
    file,
    own: to.own - from.own,
    started: to.started - from.started,
    elapsed: to.elapsed - from.elapsed,
  });
  appendFileSync(process.env["METAMCP_TEST_TIMES"] as string, `${line}\n`);
});
