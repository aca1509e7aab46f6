import fc from "fast-check";
import { expect, test } from "vitest";
import { hashOf, KeyTable } from "./key-table.ts";

test("a table numbers its keys in the order of their hashes and has no others", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { selector: hashOf }), fc.string(), (keys, other) => {
      const hashes = Uint32Array.from(keys, hashOf).sort();
      const table = new KeyTable(hashes);
      for (const key of keys) expect(hashes[table.indexOf(key)]).toBe(hashOf(key));
      expect(table.has(other)).toBe(hashes.includes(hashOf(other)));
    }),
  );
});

test("an empty table has no key", () => {
  expect(new KeyTable(new Uint32Array(0)).indexOf("a")).toBe(-1);
});

test("no two of many words and pairs of words have the same hash", () => {
  const words = "get list create delete send read write open close find file issue page user note".split(" ");
  const keys = words.flatMap((a) => [a, `~${a}`, ...words.map((b) => `${a} ${b}`)]);
  expect(new Set(keys.map(hashOf)).size).toBe(new Set(keys).size);
});
