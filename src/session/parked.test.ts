import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { Parked } from "./parked.ts";

const LIMITS = { most: 3, lifetimeMs: 100 };

test("parked work can be taken once, by its id", () => {
  const parked = new Parked(new ManualClock(), LIMITS);
  const work = { giveUp: () => {} };
  parked.park("a", work);
  expect(parked.take("b")).toBeUndefined();
  expect(parked.take("a")).toBe(work);
  expect(parked.take("a")).toBeUndefined();
});

test("in any sequence of steps the number stays limited, and each item leaves exactly once and in time", () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("park" as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("take" as const), which: fc.nat(20) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(80) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new ManualClock();
      const parked = new Parked<{ giveUp(reason: string): void }>(clock, LIMITS);
      const ends: number[] = [];
      const since: number[] = [];
      for (const now of steps) {
        if (now.do === "park") {
          const at = ends.push(0) - 1;
          since.push(clock.now());
          parked.park(String(at), { giveUp: () => (ends[at] = (ends[at] as number) + 1) });
        } else if (now.do === "take" && parked.take(String(now.which)))
          ends[now.which] = (ends[now.which] as number) + 1;
        else if (now.do === "wait") clock.advance(now.ms);
        else if (now.do === "clear") parked.clear("stopping");
        expect(parked.size).toBeLessThanOrEqual(LIMITS.most);
        expect(ends.filter((count) => count === 0)).toHaveLength(parked.size);
        expect(Math.max(0, ...ends)).toBeLessThanOrEqual(1);
        for (const [at, count] of ends.entries())
          if (count === 0) expect(clock.now() - (since[at] as number)).toBeLessThan(LIMITS.lifetimeMs);
        expect(clock.pending).toBe(parked.size);
      }
    }),
  );
});

test("beyond the limit the owner with most items loses its oldest", () => {
  const parked = new Parked(new ManualClock(), LIMITS);
  const lost: string[] = [];
  const park = (id: string, owner: string) => parked.park(id, { giveUp: () => lost.push(id) }, owner);
  park("yours", "you");
  for (const id of ["first", "second", "third"]) park(id, "me");
  expect(lost).toEqual(["first"]);
  expect(parked.take("yours")).toBeDefined();
});
