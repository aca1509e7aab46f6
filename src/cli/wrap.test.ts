import fc from "fast-check";
import { expect, test } from "vitest";
import { wrap } from "./wrap.ts";

test("long lines break at spaces and continue below their text", () => {
  expect(wrap("one two three", 8)).toBe("one two\nthree");
  expect(wrap("  add  choose from many servers", 20)).toBe("  add  choose from\n       many servers");
  expect(wrap("  --a-very-long-flag <of|some>  what it is", 20)).toBe(
    "  --a-very-long-flag\n      <of|some>\n      what it is",
  );
  expect(wrap("a /very/long/path/of/a/file b", 10)).toBe("a\n/very/long/path/of/a/file\nb");
});

test("continued lines use the given indent, and shell commands stay whole", () => {
  expect(wrap("a  b  one two three", 12, 6)).toBe("a  b  one\n      two\n      three");
  expect(wrap("run it:\n  $ one two three", 8)).toBe("run it:\n  $ one two three");
});

test("text stays unchanged if it fits or the width is unknown", () => {
  const text = "one two\n\n  three  four";
  for (const columns of [undefined, 0, 80]) expect(wrap(text, columns)).toBe(text);
});

test("no word is lost or broken at any width", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[ a-z]{0,30}$/)),
      fc.integer({ min: 1, max: 40 }),
      (lines, columns) => {
        const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);
        const text = lines.join("\n");
        expect(words(wrap(text, columns))).toEqual(words(text));
      },
    ),
  );
});
