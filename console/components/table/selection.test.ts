import { describe, expect, it } from "vitest";
import { type Selection, toggleAll, toggleOne, toggleRange } from "./selection.ts";

const order = ["a", "b", "c", "d", "e"];
const none: Selection = { keys: new Set() };
const keys = (selection: Selection) => [...selection.keys].sort();

describe("selecting rows", () => {
  it("toggleOne selects and deselects one row", () => {
    const one = toggleOne(none, "b");
    expect(keys(one)).toEqual(["b"]);
    expect(keys(toggleOne(one, "b"))).toEqual([]);
    expect(keys(none)).toEqual([]);
  });

  it("toggleRange gives the range the state of its first row, in both directions", () => {
    const range = toggleRange(toggleOne(none, "d"), "b", order);
    expect(keys(range)).toEqual(["b", "c", "d"]);
    const cleared = toggleRange(toggleOne(range, "c"), "d", order);
    expect(keys(cleared)).toEqual(["b"]);
  });

  it("toggleRange toggles a single row if the anchor is not shown", () => {
    expect(keys(toggleRange(toggleOne(none, "x"), "b", order))).toEqual(["b", "x"]);
    expect(keys(toggleRange(none, "b", order))).toEqual(["b"]);
  });

  it("toggleAll changes the shown rows only", () => {
    const hidden = toggleOne(none, "hidden");
    const all = toggleAll(hidden, order);
    expect(keys(all)).toEqual([...order, "hidden"]);
    expect(keys(toggleAll(all, order))).toEqual(["hidden"]);
  });
});
