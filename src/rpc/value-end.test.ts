import fc from "fast-check";
import { expect, test } from "vitest";
import { LARGE_BYTES } from "../kernel/own-turn.ts";
import { endOfValue } from "./value-end.ts";

const LONG = "x".repeat(LARGE_BYTES);
const large = fc.constantFrom(`"${LONG}"`, `"\\"${LONG}\\\\"`, `["${LONG}"]`, `[${" ".repeat(LARGE_BYTES)}]`);
const json = fc.oneof(
  large,
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
);

test("the end of a value is the same each time, whatever is around it", () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 4 }), fc.nat(9), (values, before) => {
      const list = `[${values.join()}]`;
      const bytes = Buffer.from(`${" ".repeat(before)}${list} `).subarray(before);
      for (const _ of ["walked", "known"]) {
        expect(endOfValue(bytes, 0)).toBe(Buffer.byteLength(list));
        let at = 1;
        for (const value of values) {
          expect(endOfValue(bytes, at)).toBe(at + Buffer.byteLength(value));
          // The same bytes in a view that begins elsewhere.
          expect(endOfValue(bytes.subarray(at), 0)).toBe(Buffer.byteLength(value));
          at += Buffer.byteLength(value) + 1;
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("other bytes at the same place have ends of their own", () => {
  const [one, two] = [Buffer.from(`"${LONG}"`), Buffer.from(`"${LONG}${LONG}"`)];
  expect(endOfValue(one, 0)).toBe(one.length);
  expect(endOfValue(two, 0)).toBe(two.length);
  expect(endOfValue(one, 0)).toBe(one.length);
});

test("large values that are known are not walked through again", () => {
  const bytes = Buffer.from(`[{"a":[${" ".repeat(LARGE_BYTES)}[]]}]`);
  const end = endOfValue(bytes, 0);
  const inner = Buffer.byteLength('[{"a":');
  // Nobody may do this: it only shows that the bytes are not read.
  bytes.fill("]", 1);
  bytes.write("[", inner);
  expect(endOfValue(bytes, 0)).toBe(end);
  expect(endOfValue(bytes, inner)).toBe(end - 2);
});
