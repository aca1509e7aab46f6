import fc from "fast-check";
import { expect, test } from "vitest";
import { Random, randomJson } from "../../../test/support/random-json.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { ResultStore, type StoredPage } from "./store.ts";

const CALLER = "me";

/** Reads all pages of a stored result by following `nextUri`. */
function allPages(store: ResultStore, uri: string): readonly StoredPage[] {
  const pages: StoredPage[] = [];
  for (let at: string | undefined = uri; at !== undefined; ) {
    const page = store.read(CALLER, at);
    if ("missing" in page) throw new Error(page.missing);
    pages.push(page);
    at = page.nextUri;
  }
  return pages;
}

function stored(raw: Raw): readonly StoredPage[] {
  const store = new ResultStore(new ManualClock());
  const kept = store.put(CALLER, "a:b", raw);
  return allPages(store, kept?.uri ?? "");
}

test("the pages of any JSON joined are the JSON byte for byte, and each has at most 32 KB on the wire", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 60 }), (seed, copies) => {
      const random = new Random(seed);
      const parts = Array.from({ length: copies * 20 }, () => randomJson(random, 5));
      const written = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"all":[${parts.join(",")}]}}`;
      const raw = asRaw(Buffer.from(written));
      const pages = stored(raw);
      expect(Buffer.from(pages.map(({ text }) => text).join("")).equals(raw)).toBe(true);
      for (const page of pages) {
        const contents = [{ uri: page.uri, mimeType: "application/json", text: page.text }];
        const answer = { contents, _meta: { "metamcp/next": page.nextUri } };
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(32 * 1024);
      }
    }),
    { numRuns: 15 },
  );
});

test("pages do not cut characters of several bytes", () => {
  for (const character of ["é", "語", "😀"]) {
    for (let shift = 0; shift < 4; shift++) {
      const raw = toRaw({ content: [{ type: "text", text: "x".repeat(shift) + character.repeat(30_000) }] });
      const pages = stored(raw);
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.map(({ text }) => text).join("")).toBe(raw.toString());
    }
  }
});

test("pages of images and files are base64 that can be decoded page by page, and never text", () => {
  const picture = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7 + (i >> 3)) & 255));
  const file = Buffer.from(Array.from({ length: 50_001 }, (_, i) => (i * 13) & 255));
  const raw = toRaw({
    content: [
      { type: "text", text: "before" },
      { type: "image", mimeType: "image/png", data: picture.toString("base64") },
      {
        type: "resource",
        resource: { uri: "file:///x", mimeType: "application/zip", blob: file.toString("base64") },
      },
      { type: "text", text: "after" },
    ],
  });
  const pages = stored(raw);
  expect(pages.map(({ text }) => text).join("")).toBe(raw.toString());
  const decoded = (mimeType: string): Buffer =>
    Buffer.concat(
      pages.filter((page) => page.mimeType === mimeType).map(({ text }) => Buffer.from(text, "base64")),
    );
  expect(decoded("image/png").equals(picture)).toBe(true);
  expect(decoded("application/zip").equals(file)).toBe(true);
  const texts = pages.filter(({ mimeType }) => mimeType === undefined).map(({ text }) => text);
  expect(texts.join("").length).toBeLessThan(400);
});

test("a small image is whole on its page, and escaped slashes in base64 are unescaped", () => {
  const data = Buffer.alloc(3_000, 255).toString("base64");
  const written = `{"content":[{"type":"image","mimeType":"image/png","data":"${data.replaceAll("/", "\\/")}"}]}`;
  const pages = stored(asRaw(Buffer.from(written)));
  expect(pages.map(({ wholeBinary }) => wholeBinary)).toEqual([false, true, false]);
  expect(JSON.parse(pages.map(({ text }) => text).join(""))).toEqual(JSON.parse(written));
});

test("no page starts inside a character, inside a group of base64, or beyond the end", () => {
  const store = new ResultStore(new ManualClock());
  const data = Buffer.alloc(300, 1).toString("base64");
  const raw = toRaw({ content: [{ type: "image", data, mimeType: "image/png" }], more: "語" });
  const { uri } = store.put(CALLER, "a:b", raw) ?? { uri: "" };
  const text = raw.toString();
  const inside = Buffer.byteLength(text.slice(0, text.indexOf("語"))) + 1;
  for (const at of [text.indexOf(data) + 2, inside, raw.length, raw.length + 1, "x", "-1", "0/0", ""])
    expect(store.read(CALLER, `${uri}/${at}`), String(at)).toMatchObject({
      missing: expect.stringMatching(/No page starts/),
    });
});

test("base64 with line breaks or in a data: URL is not returned as text", () => {
  const picture = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * 7 + (i >> 3)) & 255));
  const lines = picture.toString("base64").replaceAll(/.{76}/g, "$&\r\n");
  const address = `data:image/png;base64,${picture.toString("base64")}`;
  const raw = toRaw({
    content: [
      { type: "image", mimeType: "image/png", data: lines },
      { type: "image", mimeType: "image/gif", data: address },
      { type: "resource", resource: { uri: "file:///x", mimeType: "application/zip", blob: `${lines}\n` } },
      { type: "note", data: "plain words\n".repeat(20) },
    ],
  });
  const pages = stored(raw);
  for (const mimeType of ["image/png", "image/gif", "application/zip"]) {
    const own = pages
      .filter((page) => page.mimeType === mimeType)
      .map(({ text }) => Buffer.from(text, "base64"));
    expect(Buffer.concat(own).equals(picture), mimeType).toBe(true);
  }
  const texts = pages.filter(({ mimeType }) => mimeType === undefined).map(({ text }) => text);
  expect(texts.join("").length).toBeLessThan(900);
  // Line breaks in base64 are removed; everything else is unchanged.
  const { content } = JSON.parse(pages.map(({ text }) => text).join("")) as { content: unknown[] };
  expect(content[0]).toEqual({ type: "image", mimeType: "image/png", data: picture.toString("base64") });
  expect(content[1]).toMatchObject({ data: address });
  expect(content[3]).toEqual({ type: "note", data: "plain words\n".repeat(20) });
});
