/** The contract tests for counts of calls per time. They run in real time, because a database has its own. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Rate, RateTerms } from "./counts.ts";

/** `replicas` are all that count together; a process that is alone is one. */
export type MakeRates = (terms: RateTerms) => Promise<readonly Rate[]> | readonly Rate[];

const MINUTE = 60_000;
const times = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Counts one call as the pipeline does. Returns what was taken, or undefined if it does not pass. */
export async function pass(rate: Rate, key = "one"): Promise<{ readonly taken: unknown } | undefined> {
  for (let asked = rate.ready?.(key); asked; asked = rate.ready?.(key)) await asked;
  return rate.wait(key) > 0 ? undefined : { taken: rate.take(key) };
}

async function passed(rates: readonly Rate[], calls: number, key?: string): Promise<number> {
  const all = times(calls).map((n) => pass(rates[n % rates.length] as Rate, key));
  return (await Promise.all(all)).filter(Boolean).length;
}

export function rateContract(name: string, make: MakeRates): void {
  describe(`${name} counts calls per time`, () => {
    test.each([1, 2, 10, 25, 300])("exactly %i of the first 900 pass", async (burst) => {
      const rates = await make({ burst, intervalMs: MINUTE });
      expect(await passed(rates, 900)).toBe(burst);
      expect(await passed(rates, 9)).toBe(0);
    });

    test("says when one more passes", async () => {
      const [rate] = await make({ burst: 1, intervalMs: MINUTE });
      await pass(rate as Rate);
      expect(await pass(rate as Rate)).toBeUndefined();
      const wait = (rate as Rate).wait("one");
      expect(wait).toBeGreaterThan(MINUTE / 2);
      expect(wait).toBeLessThanOrEqual(MINUTE);
    });

    test("keys are counted apart", async () => {
      const rates = await make({ burst: 2, intervalMs: MINUTE });
      expect(await passed(rates, 9, "one")).toBe(2);
      expect(await passed(rates, 9, "two")).toBe(2);
    });

    test("what is given back can be used by anybody", async () => {
      const rates = await make({ burst: 3, intervalMs: MINUTE });
      const [first] = rates as [Rate];
      const given = await pass(first);
      expect(await passed(rates, 30)).toBe(2);
      first.giveBack("one", given?.taken);
      const again = async (): Promise<number> => {
        for (;;) {
          const count = await passed(rates, 9);
          if (count > 0) return count;
          await pause(5);
        }
      };
      expect(await again()).toBe(1);
    });

    test.each([
      { burst: 1, intervalMs: 20 },
      { burst: 30, intervalMs: 5 },
      { burst: 100, intervalMs: 1 },
    ])("never more than the burst and what was earned: %j", async ({ burst, intervalMs }) => {
      const rates = await make({ burst, intervalMs });
      const began = performance.now();
      let count = 0;
      // A slow database passes few calls in this time. With a limit that blocks for ever the test ends in
      // vain.
      while (performance.now() < began + 600 || count <= burst) {
        count += await passed(rates, 4 * rates.length);
        // Lets tokens that nobody uses pile up.
        await pause(Math.random() < 0.1 ? 60 : 0);
      }
      const earned = (performance.now() - began) / intervalMs;
      expect(count).toBeLessThanOrEqual(burst + earned);
    });
  });
}
