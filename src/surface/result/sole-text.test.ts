import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { asRaw, toRaw } from "../../kernel/raw.ts";
import { soleText } from "./sole-text.ts";
import { ResultStore } from "./store.ts";
import { linesOf } from "./text-view.ts";

const text = (value: string, structuredContent?: unknown) =>
  toRaw({
    content: [{ type: "text", text: value }],
    ...(structuredContent !== undefined && { structuredContent }),
  });

/** Reads all pages as the own tool `read` does. */
function pagesOf(result: Parameters<ResultStore["put"]>[2]) {
  const store = new ResultStore(new ManualClock());
  const pages: { text: string; uri: string }[] = [];
  for (let at = store.put("me", "a:b", result)?.uri; at !== undefined; ) {
    const page = store.read("me", at, { plain: true });
    if ("missing" in page) throw new Error(page.missing);
    pages.push(page);
    at = page.nextUri;
  }
  return pages;
}

test("a text that is also in the structured content is read once, as plain text", () => {
  const long = "line one\nline two\n".repeat(20_000);
  const pages = pagesOf(text(long, { content: long }));
  expect(pages.map((page) => page.text).join("")).toBe(long);
  for (const { text: shown } of pages)
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(32 * 1024);
  expect(pages[1]?.uri).toMatch(/\/text\/\d+$/);
});

test("the pages joined are the text, with any characters and escapes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.nat(40_000), (part, shift) => {
      const value = "x".repeat(shift) + part.repeat(Math.ceil(70_000 / part.length));
      const ascii = JSON.stringify(value).replaceAll(
        /[^\0-~]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      for (const written of [JSON.stringify(value), ascii]) {
        const result = asRaw(Buffer.from(`{"content":[{"type":"text","text":${written}}]}`));
        expect(
          pagesOf(result)
            .map((page) => page.text)
            .join(""),
        ).toBe(JSON.parse(written));
      }
    }),
    { numRuns: 8 },
  );
});

test("linesOf returns the lines of the text, not of the JSON around it", () => {
  expect(linesOf(text("one\ntwo", { content: "one\ntwo" }))).toEqual(["one", "two"]);
});

test("soleText returns undefined for a result that contains more than its text", () => {
  expect(soleText(text("a", { b: "c" }))).toBeUndefined();
  expect(soleText(text("a", { text: "a", more: "m".repeat(2_000) }))).toBeUndefined();
  expect(soleText(toRaw({ content: [] }))).toBeUndefined();
  const picture = { type: "image", data: "x", mimeType: "image/png" };
  expect(soleText(toRaw({ content: [{ type: "text", text: "a" }, picture] }))).toBeUndefined();
  expect(soleText(text(JSON.stringify({ a: [1] }, undefined, 2), { a: [1] }))?.toString()).toMatch(/^"\{/);
  expect(soleText(text('{"a":2}', { a: [1] }))).toBeUndefined();
});

test("no text page starts inside a character or an escape, or beyond the end", () => {
  const store = new ResultStore(new ManualClock());
  const { uri } = store.put("me", "a:b", text("é\n")) ?? { uri: "" };
  expect(store.read("me", `${uri}/text/0`)).toMatchObject({ text: "é\n" });
  for (const at of [1, 3, 4, 9, "x", "0/0"])
    expect(store.read("me", `${uri}/text/${at}`), String(at)).toHaveProperty("missing");
  const { uri: other } = store.put("me", "a:b", text("a", { b: 1 })) ?? { uri: "" };
  expect(store.read("me", `${other}/text/1`)).toHaveProperty("missing");
});
