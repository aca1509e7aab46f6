import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Execution } from "./execution.ts";
import { LIMITS } from "./executor.ts";
import { RunQueue } from "./run-queue.ts";

const backend = { name: "none", unsafe: false, enforced: [] };

function open(runs: number, perPrincipal: number) {
  const clock = new ManualClock();
  const running: Execution[] = [];
  const queue = new RunQueue({ runs, perPrincipal }, clock, (execution) => running.push(execution));
  let id = 0;
  const add = (principal: string): Execution => {
    const signal = new CallSignal();
    const run = { code: "", servers: [], limits: LIMITS, principal, signal, call: () => Promise.resolve("") };
    const execution = new Execution(++id, run, backend, clock);
    queue.add(execution);
    return execution;
  };
  const end = (execution: Execution): void => {
    running.splice(running.indexOf(execution), 1);
    execution.end(undefined);
    queue.release(execution);
  };
  return { clock, running, add, end };
}

test("one principal cannot use all places, and waiting runs start in order", () => {
  const { running, add, end } = open(3, 2);
  const [a1, a2, a3, b1, b2] = ["a", "a", "a", "b", "b"].map(add) as Execution[];
  expect(running).toEqual([a1, a2, b1]);
  end(b1 as Execution);
  expect(running).toEqual([a1, a2, b2]);
  end(a2 as Execution);
  expect(running).toEqual([a1, b2, a3]);
});

test("a run that waits too long fails with pool_exhausted and never starts", async () => {
  const { clock, running, add, end } = open(1, 1);
  const first = add("a");
  const late = add("b");
  clock.advance(LIMITS.wallMs);
  expect((await late.outcome).error).toMatchObject({ code: "pool_exhausted" });
  end(first);
  expect(running).toEqual([]);
});

test("the queue refuses a run while a thousand runs wait", async () => {
  const { add } = open(1, 1);
  const all = Array.from({ length: 1_002 }, () => add("a"));
  expect(all.filter(({ ended }) => ended)).toHaveLength(1);
  expect((await all.at(-1)?.outcome)?.error?.code).toBe("pool_exhausted");
});

test("in any order of events the limits hold, and no run waits that may start", () => {
  const step = fc.oneof(
    fc.record({ principal: fc.constantFrom("a", "b", "c") }),
    fc.record({ index: fc.nat(), cancel: fc.boolean() }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(step),
      (runs, perPrincipal, steps) => {
        const { running, add, end } = open(runs, perPrincipal);
        const all: Execution[] = [];
        for (const one of steps) {
          if ("principal" in one) all.push(add(one.principal));
          else if (one.cancel) all[one.index % all.length]?.end({ code: "cancelled", message: "" });
          else if (running.length > 0) end(running[one.index % running.length] as Execution);
          const count = (principal: string): number =>
            running.filter(({ run }) => run.principal === principal).length;
          expect(running.length).toBeLessThanOrEqual(runs);
          for (const principal of ["a", "b", "c"]) expect(count(principal)).toBeLessThanOrEqual(perPrincipal);
          const waiting = all.filter((execution) => !execution.ended && !running.includes(execution));
          if (running.length < runs)
            for (const { run } of waiting) expect(count(run.principal)).toBe(perPrincipal);
        }
      },
    ),
  );
});
