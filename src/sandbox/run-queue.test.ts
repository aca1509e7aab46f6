import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Execution } from "./execution.ts";
import { LIMITS } from "./executor.ts";
import { RunQueue } from "./run-queue.ts";

const backend = { name: "none", unsafe: false, enforced: [] };

function open(seats: number, each: number) {
  const clock = new ManualClock();
  const inside: Execution[] = [];
  const room = new RunQueue({ seats, each }, clock, (execution) => inside.push(execution));
  let id = 0;
  const come = (principal: string): Execution => {
    const signal = new CallSignal();
    const run = { code: "", servers: [], limits: LIMITS, principal, signal, call: () => Promise.resolve("") };
    const execution = new Execution(++id, run, backend, clock);
    room.arrive(execution);
    return execution;
  };
  const go = (execution: Execution): void => {
    inside.splice(inside.indexOf(execution), 1);
    execution.end(undefined);
    room.left(execution);
  };
  return { clock, inside, come, go };
}

test("nobody takes all the room, and who waits enters in order", () => {
  const { inside, come, go } = open(3, 2);
  const [a1, a2, a3, b1, b2] = ["a", "a", "a", "b", "b"].map(come) as Execution[];
  expect(inside).toEqual([a1, a2, b1]);
  go(b1 as Execution);
  expect(inside).toEqual([a1, a2, b2]);
  go(a2 as Execution);
  expect(inside).toEqual([a1, b2, a3]);
});

test("who waits too long is told that nothing was run, and never enters", async () => {
  const { clock, inside, come, go } = open(1, 1);
  const first = come("a");
  const late = come("b");
  clock.advance(LIMITS.wallMs);
  expect((await late.outcome).error).toMatchObject({ code: "pool_exhausted" });
  go(first);
  expect(inside).toEqual([]);
});

test("beyond a thousand nobody is let in to wait", async () => {
  const { come } = open(1, 1);
  const all = Array.from({ length: 1_002 }, () => come("a"));
  expect(all.filter(({ ended }) => ended)).toHaveLength(1);
  expect((await all.at(-1)?.outcome)?.error?.code).toBe("pool_exhausted");
});

test("whatever order they come and go in, limits hold and nobody waits beside an empty seat", () => {
  const step = fc.oneof(
    fc.record({ come: fc.constantFrom("a", "b", "c") }),
    fc.record({ go: fc.nat(), cancel: fc.boolean() }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(step),
      (seats, each, steps) => {
        const { inside, come, go } = open(seats, each);
        const all: Execution[] = [];
        for (const one of steps) {
          if ("come" in one) all.push(come(one.come));
          else if (one.cancel) all[one.go % all.length]?.end({ code: "cancelled", message: "" });
          else if (inside.length > 0) go(inside[one.go % inside.length] as Execution);
          const count = (principal: string): number =>
            inside.filter(({ run }) => run.principal === principal).length;
          expect(inside.length).toBeLessThanOrEqual(seats);
          for (const principal of ["a", "b", "c"]) expect(count(principal)).toBeLessThanOrEqual(each);
          const waiting = all.filter((execution) => !execution.ended && !inside.includes(execution));
          if (inside.length < seats) for (const { run } of waiting) expect(count(run.principal)).toBe(each);
        }
      },
    ),
  );
});
