import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw } from "../kernel/raw.ts";
import { hasManyValues } from "./many-values.ts";

const many = (text: string): boolean => hasManyValues(asRaw(Buffer.from(text)));

test("hasManyValues counts values of all types, but not characters within strings", () => {
  expect(many(`[${"{},".repeat(100_000)}{}]`)).toBe(true);
  expect(many(`[${"[],".repeat(100_000)}[]]`)).toBe(true);
  expect(many(`[${"1,".repeat(100_000)}1]`)).toBe(true);
  expect(many(`{"a":[${'"",'.repeat(100_000)}""]}`)).toBe(true);
  expect(many(`{"text":"${"{},[".repeat(1_000_000)}"}`)).toBe(false);
  expect(many(`{"text":"${'\\",'.repeat(1_000_000)}"}`)).toBe(false);
  expect(many(`{"text":"${"\\\\".repeat(1_000_000)}","more":[${"1,".repeat(100_000)}1]}`)).toBe(true);
  expect(many(`[${"1,".repeat(90_000)}1]`)).toBe(false);
});

test("hasManyValues finds the end of strings with any characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', "\\", ",", "[", "a") }), (text) => {
      const padded = [text, "x".repeat(100_000)];
      expect(many(JSON.stringify([...padded, ...Array(99_900).fill(1)]))).toBe(false);
      expect(many(JSON.stringify([...padded, ...Array(100_100).fill(1)]))).toBe(true);
    }),
    { numRuns: 20 },
  );
});
