import { expect, it } from "vitest";
import { sparkPaths } from "./spark-paths.ts";

it("scales values from zero to the maximum", () => {
  expect(sparkPaths([0, 5, 10], 24, 14)).toEqual({
    line: "M2 12L12 7L22 2",
    area: "M2 12L12 7L22 2L22 12L2 12Z",
    dots: [],
  });
});

it("interrupts the line at missing values and draws a single value as a dot", () => {
  const { line, dots } = sparkPaths([1, undefined, 1, 1, undefined], 44, 14);
  expect(line).toBe("M22 2L32 2");
  expect(dots).toEqual([{ x: 2, y: 2 }]);
});

it("draws zeros at the bottom, and nothing for an empty list", () => {
  expect(sparkPaths([0, 0], 24, 14).line).toBe("M2 12L22 12");
  expect(sparkPaths([], 24, 14)).toEqual({ line: "", area: "", dots: [] });
});
