import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LineLimiter } from "./line-limiter.ts";

test("a limited number of lines is shown per second, and skipped lines are reported once per second", () => {
  const clock = new ManualClock();
  const reported: number[] = [];
  const limiter = new LineLimiter({ clock, perSecond: 3, onSkipped: (lines) => reported.push(lines) });
  const shown = (): number => Array.from({ length: 10 }, () => limiter.take()).filter(Boolean).length;

  expect(shown()).toBe(3);
  clock.advance(999);
  expect(shown()).toBe(0);
  expect(reported).toEqual([]);
  clock.advance(1);
  expect(reported).toEqual([17]);
  expect(shown()).toBe(3);
  limiter.flush();
  expect(reported).toEqual([17, 7]);
  clock.advance(10_000);
  expect(reported).toEqual([17, 7]);
  expect(clock.pending).toBe(0);
});
