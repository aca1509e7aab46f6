import { describe, expect, it } from "vitest";
import { diffValues } from "./diff-values.ts";

describe("diffValues", () => {
  it("returns the path with the old and the new value of each change", () => {
    expect(
      diffValues({ a: 1, b: { c: true, d: "x" }, e: null }, { a: 1, b: { c: false, d: "x" }, f: [] }),
    ).toEqual([
      { path: ["b", "c"], before: true, after: false },
      { path: ["e"], before: null },
      { path: ["f"], after: [] },
    ]);
    expect(diffValues({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual([]);
    expect(diffValues({ a: 1 }, [1])).toEqual([{ path: [], before: { a: 1 }, after: [1] }]);
  });

  it("matches objects in lists by id or name", () => {
    const before = [
      { name: "a", on: true },
      { name: "b", on: true },
    ];
    const after = [
      { name: "c", on: true },
      { name: "b", on: false },
    ];
    expect(diffValues({ tools: before }, { tools: after })).toEqual([
      { path: ["tools", "a"], before: { name: "a", on: true } },
      { path: ["tools", "b", "on"], before: true, after: false },
      { path: ["tools", "c"], after: { name: "c", on: true } },
    ]);
    expect(diffValues(before, [...before].reverse())).toEqual([]);
  });

  it("compares lists of plain values as sets, and reports a changed order", () => {
    expect(diffValues(["-y", "old"], ["-y", "new"])).toEqual([
      { path: [], before: "old" },
      { path: [], after: "new" },
    ]);
    expect(diffValues([1, 2], [2, 1])).toEqual([{ path: [], before: [1, 2], after: [2, 1] }]);
  });

  it("compares other lists by index", () => {
    expect(diffValues([{ x: 1 }, [2]], [{ x: 1 }, [3], 4])).toEqual([
      { path: [1], before: 2 },
      { path: [1], after: 3 },
      { path: [2], after: 4 },
    ]);
  });
});
