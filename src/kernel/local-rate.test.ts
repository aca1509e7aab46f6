import fc from "fast-check";
import { expect, test } from "vitest";
import { heapAfterGc } from "../../test/support/heap-after-gc.ts";
import { systemClock } from "../engine/system-clock.ts";
import { ManualClock } from "./clock.ts";
import { LocalRate } from "./local-rate.ts";
import { rateContract } from "./rate.contract.ts";

rateContract("a process that is alone", (terms) => [new LocalRate(terms, systemClock)]);

test("no period of time has more calls than the burst plus those earned in it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
      (requests, burst, pauses) => {
        const clock = new ManualClock();
        const intervalMs = 1_000 / requests;
        const rate = new LocalRate({ intervalMs, burst }, clock);
        const at: number[] = [];
        for (const pause of pauses) {
          clock.advance(pause);
          if (rate.wait("one") > 0) continue;
          rate.take("one");
          at.push(clock.now());
        }
        for (const [first, from] of at.entries())
          for (const [last, to] of at.entries())
            if (last > first)
              expect(last - first + 1).toBeLessThanOrEqual(
                burst + Math.floor((to - from) / intervalMs + 1e-6),
              );
      },
    ),
    { numRuns: 200 },
  );
});

test("200,000 callers need no more memory than 100,000", () => {
  const rate = new LocalRate({ intervalMs: 60_000, burst: 1 }, new ManualClock());
  const grown = (from: number): number => {
    const before = heapAfterGc();
    for (let n = from; n < from + 100_000; n += 1) rate.take(`caller ${n}`);
    return heapAfterGc() - before;
  };
  const first = grown(0);
  expect(grown(100_000)).toBeLessThan(first / 2);
  expect(rate.wait("caller 199999")).toBeGreaterThan(0);
});
