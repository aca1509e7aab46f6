import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PassingMap, PassingSet } from "./passing.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;

test("a passing map does what a map does, in the same order", () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.boolean()), { minLength: 2_000, maxLength: 4_000 });
  fc.assert(
    fc.property(steps, (all) => {
      const [passing, map] = [new PassingMap<number, number>(), new Map<number, number>()];
      for (const [at, [key, add]] of all.entries()) {
        if (add) {
          passing.set(key, at);
          map.set(key, at);
        } else expect(passing.delete(key)).toBe(map.delete(key));
        expect([passing.size, passing.get(key), passing.has(key)]).toEqual([
          map.size,
          map.get(key),
          map.has(key),
        ]);
      }
      expect([...passing]).toEqual([...map]);
      expect([[...passing.keys()], [...passing.values()]]).toEqual([[...map.keys()], [...map.values()]]);
      passing.clear();
      expect([passing.size, [...passing]]).toEqual([0, []]);
    }),
    { numRuns: 5 },
  );
});

test("a loop may delete what it visits", () => {
  const passing = new PassingSet<number>();
  for (let at = 0; at < 1_000; at++) passing.add(at);
  const visited: number[] = [];
  for (const at of passing) if (passing.delete(at)) visited.push(at);
  expect([visited.length, passing.size]).toEqual([1_000, 0]);
});

test("entries that have passed do not stay in memory until the whole heap is collected", () => {
  const passing = new PassingMap<number, string[]>();
  const pass = (count: number): void => {
    for (let at = 0; at < count; at++) {
      passing.set(at, Array.from({ length: 100 }, String));
      passing.delete(at - 32);
    }
  };
  pass(100);
  // The table is now one that only a full collection can free.
  collect();
  const before = getHeapStatistics().used_heap_size;
  pass(20_000);
  for (let i = 0; i < 3; i++) collect({ type: "minor" });
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(2_000_000);
});
