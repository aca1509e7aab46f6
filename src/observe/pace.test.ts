import fc from "fast-check";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("who has sent nothing for a second may send one second's statements at once, then waits", () => {
  const pace = new Pace(20);
  for (let sent = 0; sent < 20; sent += 1) {
    expect(pace.waitMs(0)).toBe(0);
    pace.spend(1, 0);
  }
  expect(pace.waitMs(0)).toBe(50);
  expect(pace.waitMs(50)).toBe(0);
  expect(pace.waitMs(60_000)).toBe(0);
  pace.spend(20, 60_000);
  expect(pace.waitMs(60_000)).toBe(50);
});

test("however many statements each write takes, the rate holds", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 50 }), (writes) => {
      const pace = new Pace(20);
      let [now, sent] = [0, 0];
      for (const count of writes) {
        now += pace.waitMs(now);
        pace.spend(count, now);
        sent += count;
      }
      // The last write may have taken more than were left.
      expect(sent).toBeLessThanOrEqual(20 + (now / 1000) * 20 + 9);
    }),
  );
});
