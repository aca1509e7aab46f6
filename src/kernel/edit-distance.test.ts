import { expect, test } from "vitest";
import { distanceWithin } from "./edit-distance.ts";

test("distanceWithin counts edits, and returns Infinity beyond the limit", () => {
  expect(distanceWithin("screnshot", "screenshot", 2)).toBe(1);
  expect(distanceWithin("flie", "file", 2)).toBe(1);
  expect(distanceWithin("kitten", "sitting", 3)).toBe(3);
  expect(distanceWithin("kitten", "sitting", 2)).toBe(Number.POSITIVE_INFINITY);
});
