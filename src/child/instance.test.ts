import fc from "fast-check";
import { expect, test } from "vitest";
import { firstKey, instanceKey, instanceKeys, instanceOf, type Load, leastLoaded } from "./instance.ts";

const always = { mayStart: () => true };
const never = { mayStart: () => false };
const load = (calls: number, sessions = 0): Load => ({ calls, sessions });

test("a key contains the number of its instance, and the first instance has the plain key", () => {
  expect(instanceKeys('server {"a":1}', 3).map(instanceOf)).toEqual([0, 1, 2]);
  expect(instanceKey("k", 0)).toBe("k");
  expect(instanceKeys("k", 2).map(firstKey)).toEqual(["k", "k"]);
});

test("an idle instance, the one with the fewest sessions, is used before another one is started", () => {
  expect(leastLoaded([load(0, 2), load(0, 1), undefined], always)).toBe(1);
  expect(leastLoaded([load(2), load(0, 9), undefined], always)).toBe(1);
});

test("another instance is started only if all running ones have calls and the pool has room", () => {
  expect(leastLoaded([undefined, undefined], never)).toBe(0);
  expect(leastLoaded([load(1), undefined, undefined], always)).toBe(1);
  expect(leastLoaded([load(3), undefined, load(1)], always)).toBe(1);
  expect(leastLoaded([load(3), undefined, load(1)], never)).toBe(2);
  expect(leastLoaded([load(1, 4), load(1, 3)], always)).toBe(1);
});

test("a second attempt uses another instance, or the same one if there is no other", () => {
  const avoid = new Set([0]);
  expect(leastLoaded([load(1), load(5)], { ...always, avoid })).toBe(1);
  expect(leastLoaded([load(1), undefined], { ...always, avoid })).toBe(1);
  expect(leastLoaded([load(1), undefined], { ...never, avoid })).toBe(0);
});

test("for all loads the chosen instance has the fewest calls", () => {
  const loads = fc.array(
    fc.option(fc.record({ calls: fc.nat(5), sessions: fc.nat(5) }), { nil: undefined }),
    { minLength: 1, maxLength: 16 },
  );
  fc.assert(
    fc.property(loads, fc.boolean(), (all, room) => {
      const chosen = leastLoaded(all, { mayStart: () => room });
      const running = all.flatMap((one) => (one ? [one.calls] : []));
      const fewest = Math.min(...running);
      expect(chosen).toBeLessThan(all.length);
      if (running.length === 0) expect(chosen).toBe(0);
      else if (all[chosen]) expect(all[chosen].calls).toBe(fewest);
      else expect(room && fewest > 0).toBe(true);
    }),
  );
});
