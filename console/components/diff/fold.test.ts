import { expect, it } from "vitest";
import { diffLines } from "./diff-lines.ts";
import { foldLines } from "./fold.ts";

const text = (change: string) =>
  Array.from({ length: 20 }, (_, at) => (at === 10 ? change : `line ${at}`)).join("\n");

it("shows three lines around a change and folds the rest", () => {
  const pieces = foldLines(diffLines(text("before"), text("after")));
  expect(pieces.map(({ folded, lines }) => [folded, lines.length])).toEqual([
    [true, 7],
    [false, 8],
    [true, 6],
  ]);
});

it("folds all where nothing changed", () => {
  expect(foldLines(diffLines("a\nb", "a\nb")).map(({ folded }) => folded)).toEqual([true]);
  expect(foldLines([])).toEqual([]);
});
