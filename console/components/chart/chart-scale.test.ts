import { expect, test } from "vitest";
import { labelledSteps, stepLabel, ticksTo } from "./chart-scale.ts";

test("the numbers of an axis are round and reach the largest value", () => {
  expect(ticksTo(60)).toEqual([0, 20, 40, 60]);
  expect(ticksTo(61)).toEqual([0, 20, 40, 60, 80]);
  expect(ticksTo(1)).toEqual([0, 0.5, 1]);
  expect(ticksTo(0.7)).toEqual([0, 0.2, 0.4, 0.6, 0.8]);
  expect(ticksTo(0)).toEqual([0, 1]);
});

test("labels have equal distances and end at the newest step", () => {
  expect(labelledSteps(60, 4)).toEqual([14, 29, 44, 59]);
  expect(labelledSteps(3, 10)).toEqual([0, 1, 2]);
  expect(labelledSteps(0, 5)).toEqual([]);
});

test("days are those of UTC", () => {
  expect(stepLabel(Date.parse("2026-11-18T00:00:00Z"), "day")).toBe("18 Nov");
});
