import { expect, test } from "vitest";
import { SUM_MS } from "../../store/sum-rows.ts";
import { mergedSums, partsOf } from "./sum-parts.ts";

const { hour: HOUR, day: DAY } = SUM_MS;
const MONDAY = Date.parse("2026-11-16T00:00:00Z");
const NOTHING = { errors: 0, refused: 0, request_bytes: 0, result_bytes: 0, tokens_full: 0, tokens_shown: 0 };

test("whole days of a range of hours are read as days, and each hour is in exactly one part", () => {
  const range = { per: "hour", from: MONDAY + 15 * HOUR } as const;
  expect(partsOf(range, MONDAY + 3 * DAY + 5 * HOUR + 1)).toEqual([
    { per: "hour", from: MONDAY + 15 * HOUR, to: MONDAY + DAY },
    { per: "day", from: MONDAY + DAY, to: MONDAY + 3 * DAY },
    { per: "hour", from: MONDAY + 3 * DAY },
  ]);
  expect(partsOf({ ...range, from: MONDAY }, MONDAY + DAY)).toEqual([
    { per: "day", from: MONDAY, to: MONDAY + DAY },
    { per: "hour", from: MONDAY + DAY },
  ]);
});

test("a range without a whole day, and one of minutes or days, stays as it is", () => {
  const hours = { per: "hour", from: MONDAY + 15 * HOUR } as const;
  expect(partsOf(hours, MONDAY + DAY + HOUR)).toEqual([hours]);
  const minutes = { per: "minute", from: MONDAY } as const;
  expect(partsOf(minutes, MONDAY + 9 * DAY)).toEqual([minutes]);
  const days = { per: "day", from: MONDAY } as const;
  expect(partsOf(days, MONDAY + 9 * DAY)).toEqual([days]);
});

test("sums of the same group add up, and the last call is the latest", () => {
  const row = (of: string, calls: number, last: number) => ({ ...NOTHING, of, calls, last });
  expect(mergedSums([[row("a", 1, 5), row("b", 2, 9)], [row("a", 10, 3)]])).toEqual([
    row("a", 11, 5),
    row("b", 2, 9),
  ]);
});
