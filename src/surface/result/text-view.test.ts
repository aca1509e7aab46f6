import fc from "fast-check";
import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { jsonLines, linesOf, selectLines, textLines } from "./text-view.ts";

test("linesOf returns the lines of a text, or JSON with a line for each part", () => {
  const text = (value: string) => toRaw({ content: [{ type: "text", text: value }] });
  expect(linesOf(text("one\ntwo"))).toEqual(["one", "two"]);
  expect(linesOf(toRaw({ content: [], structuredContent: { a: [1, "b,{c"], d: {} } }))).toEqual([
    "{",
    ' "a":[',
    "  1,",
    '  "b,{c"',
    " ],",
    ' "d":{',
    " }",
    "}",
  ]);
  expect(textLines(`["${"x".repeat(2_000)}",12345678901234567890]`).at(1)).toMatch(/^ "x+",$/);
  expect(textLines(`["${"x".repeat(2_000)}",12345678901234567890]`).at(2)).toBe(" 12345678901234567890");
});

test("the lines of any JSON joined are equal JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(jsonLines(toRaw(value)).join("\n"))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("selectLines numbers and limits the lines, and says how to continue", () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => (n % 10 === 0 ? `Ten ${n}` : `line ${n}`));
  expect(selectLines(lines, { from: 3, lines: 2 })).toBe(
    "3: line 2\n4: line 3\n(2 lines shown, 1,000 lines in total. Continue with from: 5.)",
  );
  expect(selectLines(lines, { find: "ten", lines: 2 })).toBe(
    "1: Ten 0\n11: Ten 10\n(2 matching lines shown, 1,000 lines in total. Continue with from: 12.)",
  );
  expect(selectLines(lines, { find: "TEN", from: 985 })).toBe(
    "991: Ten 990\n(1 matching line shown, 1,000 lines in total.)",
  );
  expect(selectLines(lines, { find: "eleven" })).toBe("(0 matching lines shown, 1,000 lines in total.)");
  expect(selectLines(lines, { from: 5_000 })).toBe("(0 lines shown, 1,000 lines in total.)");
  expect(selectLines(lines, {}).length).toBeLessThan(30_000);
  const long = selectLines([`${"a".repeat(5_000)}needle${"b".repeat(5_000)}`], { find: "needle" });
  expect(long).toMatch(/^1: …a+needleb+… \(10,006 characters\)\n/);
  expect(long.length).toBeLessThan(1_200);
});
