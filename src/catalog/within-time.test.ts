import { expect, test } from "vitest";
import { OutOfTime, stepsWithinTime, withinTime } from "./within-time.ts";

const LIMIT_MS = 100;

/** Takes time, but no processor time: as if other work used the processor. */
function stall(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

test("work that did not get the processor is repeated", () => {
  let tries = 0;
  const work = (): string => {
    tries += 1;
    if (tries === 1) stall();
    return "done";
  };
  expect(withinTime(LIMIT_MS, work)).toBe("done");
  expect(tries).toBe(2);
});

test("work that never gets the processor is given up", () => {
  let tries = 0;
  const work = (): void => {
    tries += 1;
    stall();
  };
  expect(() => withinTime(LIMIT_MS, work)).toThrow(OutOfTime);
  expect(tries).toBe(2);
});

test("work that used half of the limit is not repeated", () => {
  const starts: number[] = [];
  const work = (): void => {
    starts.push(cpuMs());
    for (;;);
  };
  expect(() => withinTime(LIMIT_MS, work)).toThrow(OutOfTime);
  const used = starts.slice(1).map((start, at) => start - (starts[at] as number));
  expect(Math.max(0, ...used)).toBeLessThan(LIMIT_MS / 2);
  expect(starts.length).toBeLessThanOrEqual(2);
});

test("work in steps begins again if a step did not get the processor", async () => {
  const done: string[] = [];
  let begun = 0;
  const result = await stepsWithinTime(LIMIT_MS, async (runStep) => {
    begun += 1;
    runStep(() => done.push("first"));
    await Promise.resolve();
    return runStep(() => {
      if (begun === 1) stall();
      return "second";
    });
  });
  expect([result, done]).toEqual(["second", ["first", "first"]]);
});

test("errors of the work pass, and the work is not repeated", () => {
  let tries = 0;
  const work = (): void => {
    tries += 1;
    throw new TypeError("broken");
  };
  expect(() => withinTime(LIMIT_MS, work)).toThrow("broken");
  expect(tries).toBe(1);
});
