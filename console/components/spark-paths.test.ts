import { expect, it } from "vitest";
import { sparkPaths } from "./spark-paths.ts";

it("draws from zero to the greatest value", () => {
  expect(sparkPaths([0, 5, 10], 24, 14)).toEqual({
    line: "M2 12L12 7L22 2",
    area: "M2 12L12 7L22 2L22 12L2 12Z",
    dots: [],
  });
});

it("leaves gaps open, and shows what stands alone as a dot", () => {
  const { line, dots } = sparkPaths([1, undefined, 1, 1, undefined], 44, 14);
  expect(line).toBe("M22 2L32 2");
  expect(dots).toEqual([{ x: 2, y: 2 }]);
});

it("stays on the ground where nothing happens, and survives no values at all", () => {
  expect(sparkPaths([0, 0], 24, 14).line).toBe("M2 12L22 12");
  expect(sparkPaths([], 24, 14)).toEqual({ line: "", area: "", dots: [] });
});
