import fc from "fast-check";
import { expect, test } from "vitest";
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
