/**
 * For `npm test -- --times`: appends the processor time and the elapsed time of each test file to the file
 * METAMCP_TEST_TIMES, one JSON object per line.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";

interface Times {
  /** Processor time of the worker itself. */
  readonly own: number;
  /** Of the processes that it started and that have ended. Without /proc 0. */
  readonly started: number;
  readonly elapsed: number;
}

function now(): Times {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  const elapsed = performance.now() / 1_000;
  if (!existsSync("/proc/self/stat")) return { own, started: 0, elapsed };
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { own, started: (Number(fields[13]) + Number(fields[14])) * TICK_S, elapsed };
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
