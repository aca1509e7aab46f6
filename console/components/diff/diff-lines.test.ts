import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, type LineChange } from "./diff-lines.ts";

const SIGNS = { same: " ", removed: "-", added: "+" } as const;
const read = (changes: readonly LineChange[]) =>
  changes.map(({ kind, text }) => SIGNS[kind] + text).join("|");
const kept = (changes: readonly LineChange[], side: "before" | "after") =>
  changes.filter((one) => one[side] !== undefined).map(({ text }) => text);

describe("lines that changed", () => {
  it("finds the least that changed", () => {
    expect(read(diffLines("a\nb\nc", "a\nx\nc"))).toBe(" a|-b|+x| c");
    expect(read(diffLines("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc")).replace(/[^-+]/g, "")).toHaveLength(5);
    expect(read(diffLines("", "a\nb\n"))).toBe("+a|+b");
    expect(read(diffLines("a", ""))).toBe("-a");
    expect(diffLines("", "")).toEqual([]);
  });

  it("numbers lines on both sides", () => {
    expect(diffLines("a\nb", "b")).toEqual([
      { kind: "removed", text: "a", before: 1 },
      { kind: "same", text: "b", before: 2, after: 1 },
    ]);
  });

  it("holds both texts whole, in order", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const changes = diffLines(a.join("\n"), b.join("\n"));
        expect(kept(changes, "before")).toEqual(a);
        expect(kept(changes, "after")).toEqual(b);
        expect(changes.filter(({ kind }) => kind === "same")).toHaveLength(longest(a, b));
      }),
    );
  });

  it("gives up on what has nothing in common", () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}`).join("\n");
    expect(diffLines(many("a"), many("b"))).toHaveLength(6000);
  });
});

/** Length of the longest common subsequence, the slow way. */
function longest(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let x = 1; x <= a.length; x += 1)
    for (let y = 1; y <= b.length; y += 1)
      (table[x] as number[])[y] =
        a[x - 1] === b[y - 1]
          ? (table[x - 1]?.[y - 1] ?? 0) + 1
          : Math.max(table[x - 1]?.[y] ?? 0, table[x]?.[y - 1] ?? 0);
  return table[a.length]?.[b.length] ?? 0;
}
