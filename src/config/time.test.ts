import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_TIMER_MS, parseTime } from "./time.ts";

test.each([
  [0, 0],
  [30_000, 30_000],
  ["30000", 30_000],
  [" 5m ", 300_000],
  ["500ms", 500],
  ["30s", 30_000],
  ["1.5s", 1_500],
  ["1h", 3_600_000],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
  [MAX_TIMER_MS, MAX_TIMER_MS],
])("parseTime reads %j as %d ms", (written, ms) => {
  expect(parseTime(written)).toBe(ms);
});

test.each([
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  MAX_TIMER_MS + 1,
  "25d",
  "",
  " ",
  "s",
  "-5s",
  "5 s",
  "5x",
  "1e3",
  "0x10",
  "5m3",
  "NaN",
  null,
  undefined,
  true,
  [5],
  {},
])("parseTime rejects %j", (written) => {
  expect(parseTime(written)).toBeUndefined();
});

test("parseTime multiplies a number with its unit", () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
  fc.assert(
    fc.property(fc.nat(500), fc.constantFrom("ms", "s", "m", "h"), (amount, unit) => {
      expect(parseTime(`${amount}${unit}`)).toBe(amount * units[unit]);
    }),
  );
});

test("parseTime returns undefined or an integer that a timer can wait, for any value", () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), fc.double()), (written) => {
      const ms = parseTime(written);
      if (ms !== undefined) expect(Number.isInteger(ms) && ms >= 0 && ms <= MAX_TIMER_MS).toBe(true);
    }),
  );
});
