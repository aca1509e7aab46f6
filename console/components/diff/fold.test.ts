import { expect, it } from "vitest";
import { diffLines } from "./diff-lines.ts";
import { foldLines } from "./fold.ts";

const text = (change: string) =>
  Array.from({ length: 20 }, (_, at) => (at === 10 ? change : `line ${at}`)).join("\n");

it("foldLines shows three lines around a change and folds the rest", () => {
  const blocks = foldLines(diffLines(text("before"), text("after")));
  expect(blocks.map(({ folded, lines }) => [folded, lines.length])).toEqual([
    [true, 7],
    [false, 8],
    [true, 6],
  ]);
});

it("foldLines folds all lines of equal texts", () => {
  expect(foldLines(diffLines("a\nb", "a\nb")).map(({ folded }) => folded)).toEqual([true]);
  expect(foldLines([])).toEqual([]);
});
