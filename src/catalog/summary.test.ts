import fc from "fast-check";
import { expect, test } from "vitest";
import { summarize } from "./summary.ts";

test("summarize returns a short text on one line", () => {
  expect(summarize("Echoes\n  the input.", 100)).toBe("Echoes the input.");
  expect(summarize("", 100)).toBe("");
});

test("summarize cuts after the last sentence that fits", () => {
  const text =
    "Reads a file. Takes a path, e.g. a relative one. Then much more is said about it than anyone needs.";
  expect(summarize(text, 60)).toBe("Reads a file. Takes a path, e.g. a relative one.");
});

test("summarize cuts at a word and adds an ellipsis if the first sentence is too long", () => {
  expect(summarize("Search the whole of the known internet for pages", 30)).toBe(
    "Search the whole of the known…",
  );
});

test("summarize does not cut inside a character", () => {
  expect(summarize("👩‍👩‍👧‍👦".repeat(10), 30)).toBe(`${"👩‍👩‍👧‍👦".repeat(2)}…`);
  expect(summarize("検索します。次の文です。そして最後の文です。", 14)).toBe("検索します。次の文です。");
});

test("summarize never exceeds its limit and never returns half a character", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.integer({ min: 1, max: 80 }),
      (text, most) => {
        const short = summarize(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(Buffer.from(short).toString()).toBe(short);
      },
    ),
  );
});
