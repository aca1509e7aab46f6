/** How long assertions of machine clients count. */
import { expect, test } from "vitest";
import { checkAssertionEnd } from "./machine-client.ts";

const NOW_S = 1_000_000;

test("an assertion ends within an hour by the time of the database, with a little grace", () => {
  const counts = (exp: unknown): boolean => {
    try {
      checkAssertionEnd(exp, NOW_S * 1_000);
      return true;
    } catch {
      return false;
    }
  };
  expect([NOW_S + 60, NOW_S + 3_600, NOW_S - 14].map(counts)).toEqual([true, true, true]);
  const wrong = [
    NOW_S - 15,
    NOW_S + 3_601,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    String(NOW_S + 60),
    undefined,
  ];
  expect(wrong.map(counts)).toEqual(wrong.map(() => false));
});
