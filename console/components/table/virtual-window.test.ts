import fc from "fast-check";
import { expect, it } from "vitest";
import { windowOf } from "./virtual-window.ts";

it("windowOf returns all rows of a short list at any position", () => {
  expect(windowOf({ count: 100, rowHeight: 32, top: 5000, height: 800 })).toEqual({ start: 0, end: 100 });
  expect(windowOf({ count: 0, rowHeight: 32, top: 0, height: 800 })).toEqual({ start: 0, end: 0 });
});

it("windowOf covers the visible rows and a limited number around them", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 101, max: 100_000 }),
      fc.integer({ min: 20, max: 60 }),
      fc.integer({ min: -6_000_000, max: 5000 }),
      fc.integer({ min: 0, max: 4000 }),
      (count, rowHeight, top, height) => {
        const { start, end } = windowOf({ count, rowHeight, top, height });
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(count);
        expect(end).toBeGreaterThanOrEqual(start);
        expect(end - start).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 2 * 12 + 2 * 8 + 2);
        for (const row of [Math.floor(-top / rowHeight), Math.floor((height - 1 - top) / rowHeight)])
          if (row >= 0 && row < count && height > 0) expect(start <= row && row < end).toBe(true);
      },
    ),
  );
});

it("windowOf stays the same while scrolling a few pixels", () => {
  const at = (top: number) => windowOf({ count: 5000, rowHeight: 32, top, height: 800 });
  expect(at(-3203)).toEqual(at(-3220));
});
