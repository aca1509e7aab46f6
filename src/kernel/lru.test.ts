import fc from "fast-check";
import { expect, test } from "vitest";
import { heapAfterGc } from "../../test/support/heap-after-gc.ts";
import { Lru } from "./lru.ts";

test("drops the least recently used entry after any sequence of operations", () => {
  const step = fc.tuple(fc.constantFrom("set", "get", "delete", "drop"), fc.nat({ max: 6 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const dropped: number[] = [];
      const lru = new Lru<number, number>(3, (_, key) => void dropped.push(key));
      const model: number[] = [];
      const expected: number[] = [];
      const moved = (key: number) => model.push(...model.splice(model.indexOf(key), 1));
      for (const [what, key] of steps) {
        const known = model.includes(key);
        if (what === "get") expect(lru.get(key)).toBe(known ? key : undefined);
        if (what === "get" && known) moved(key);
        if (what === "delete") lru.delete(key);
        if (what === "delete" && known) model.splice(model.indexOf(key), 1);
        if (what === "set") {
          lru.set(key, key);
          if (known) moved(key);
          else model.push(key);
          if (model.length > 3) expected.push(model.shift() as number);
        }
        if (what === "drop") {
          expect(lru.dropOldest()).toBe(model.length > 0);
          if (model.length > 0) expected.push(model.shift() as number);
        }
        expect(lru.size).toBe(model.length);
      }
      expect(dropped).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test("many uses of one key, and of many keys in turn, leave no memory behind", () => {
  for (const keys of [1, 50, 1_000]) {
    const lru = new Lru<number, object>(100);
    const use = (times: number): void => {
      for (let n = 0; n < times; n++) {
        const value = lru.get(n % keys) ?? {};
        lru.set(n % keys, value);
      }
    };
    use(10_000);
    const before = heapAfterGc();
    use(100_000);
    expect(heapAfterGc() / before, `${keys} keys`).toBeLessThan(1.05);
    expect(lru.size).toBe(Math.min(keys, 100));
  }
});
