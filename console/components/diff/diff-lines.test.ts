import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, type LineChange } from "./diff-lines.ts";

const SIGNS = { same: " ", removed: "-", added: "+" } as const;
const format = (changes: readonly LineChange[]) =>
  changes.map(({ kind, text }) => SIGNS[kind] + text).join("|");
const linesOf = (changes: readonly LineChange[], side: "before" | "after") =>
  changes.filter((one) => one[side] !== undefined).map(({ text }) => text);

describe("diffLines", () => {
  it("finds the smallest set of changed lines", () => {
    expect(format(diffLines("a\nb\nc", "a\nx\nc"))).toBe(" a|-b|+x| c");
    expect(format(diffLines("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc")).replace(/[^-+]/g, "")).toHaveLength(
      5,
    );
    expect(format(diffLines("", "a\nb\n"))).toBe("+a|+b");
    expect(format(diffLines("a", ""))).toBe("-a");
    expect(diffLines("", "")).toEqual([]);
  });

  it("numbers the lines of both texts", () => {
    expect(diffLines("a\nb", "b")).toEqual([
      { kind: "removed", text: "a", before: 1 },
      { kind: "same", text: "b", before: 2, after: 1 },
    ]);
  });

  it("contains all lines of both texts in order", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const changes = diffLines(a.join("\n"), b.join("\n"));
        expect(linesOf(changes, "before")).toEqual(a);
        expect(linesOf(changes, "after")).toEqual(b);
        expect(changes.filter(({ kind }) => kind === "same")).toHaveLength(commonLength(a, b));
      }),
    );
  });

  it("treats long texts without common lines as replaced", () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}`).join("\n");
    expect(diffLines(many("a"), many("b"))).toHaveLength(6000);
  });
});

/** Length of the longest common subsequence, computed with the full table. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let x = 1; x <= a.length; x += 1)
    for (let y = 1; y <= b.length; y += 1)
      (table[x] as number[])[y] =
        a[x - 1] === b[y - 1]
          ? (table[x - 1]?.[y - 1] ?? 0) + 1
          : Math.max(table[x - 1]?.[y] ?? 0, table[x]?.[y - 1] ?? 0);
  return table[a.length]?.[b.length] ?? 0;
}
