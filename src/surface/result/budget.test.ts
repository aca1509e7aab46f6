import fc from "fast-check";
import { expect, test } from "vitest";
import { Random, randomJson } from "../../../test/support/random-json.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { shortResult } from "./budget.ts";
import { isWithin } from "./media.ts";
import { previewOf } from "./preview.ts";
import { sketchOf } from "./sketch.ts";
import { ResultStore } from "./store.ts";

/** Leaves room for what a session may add to a result, up to 4,096 bytes. */
const MAX_BYTES = 4_000;

interface Short {
  content: [{ type: string; text: string }, { type: string; uri: string; size: number }];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: unknown;
}

function short(result: Raw): { answer: Short; bytes: number; store: ResultStore } {
  const store = new ResultStore(new ManualClock());
  const readCommand = (uri: string): string =>
    `mcp_call {server: "metamcp", tool: "read", args: {uri: "${uri}"}}`;
  const answer = shortResult(result, {
    store,
    caller: "me",
    owner: "me",
    source: "server:tool",
    most: 102_400,
    readCommand,
    code: "mcp_execute",
  });
  return { answer: fromRaw(answer) as Short, bytes: answer.length, store };
}

test("a preview of any value is valid JSON within its limit", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 150, max: 3_000 }), (seed, room) => {
      const random = new Random(seed);
      const parts = Array.from({ length: random.int(200) }, () => randomJson(random, 6));
      const raw = asRaw(
        Buffer.from(random.chance(2) ? `[${parts.join(",")}]` : `{"a":[${parts.join(",")}],"b":1}`),
      );
      const json = previewOf(sketchOf(raw), (text) => Buffer.byteLength(text) <= room);
      JSON.parse(json);
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(Math.max(room, 600));
    }),
    { numRuns: 150 },
  );
});

test("a preview of a small value is the value, with all digits", () => {
  const written = '{"n":12345678901234567890,"f":1.0,"s":"a\\nb","l":[true,null],"__proto__":{"x":1}}';
  expect(previewOf(sketchOf(asRaw(Buffer.from(written))), () => true)).toBe(written);
});

test("a preview shows the first items, and the shape and size of the rest", () => {
  const items = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `n${id}`, tags: ["a"] }));
  const json = previewOf(sketchOf(toRaw({ total: 10_000, items })), (text) => text.length <= 600);
  const preview = JSON.parse(json) as { total: number; items: unknown[] };
  expect(preview.total).toBe(10_000);
  expect(preview.items[0]).toEqual(items[0]);
  expect(preview.items.at(-1)).toMatch(
    /^… 9,9\d\d more objects like \{id: number, name: string, tags: array\}; [\d,]+ bytes in total$/,
  );
});

test("a short result has at most 4 KB of text and structure, and the whole can be read from the store", () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => ({
    id,
    'quoted "key"': `"${id}"\n`,
    deep: { er: [id] },
  }));
  const raw = toRaw({
    content: [{ type: "text", text: JSON.stringify(rows) }],
    structuredContent: { rows },
    isError: false,
    _meta: { "metamcp/attempts": 2 },
  });
  const { answer, bytes, store } = short(raw);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  expect(bytes).toBeGreaterThan(2_000);
  expect(answer).toMatchObject({ isError: false, _meta: { "metamcp/attempts": 2 } });
  expect(answer.structuredContent).toMatchObject({ rows: expect.arrayContaining([rows[0]]) });
  const [text, link] = answer.content;
  expect(text.text).toContain(`${raw.length.toLocaleString("en")} bytes`);
  expect(link).toMatchObject({ type: "resource_link", size: raw.length, mimeType: "application/json" });
  expect(text.text).toContain(link.uri);
  expect(store.read("me", link.uri)).toHaveProperty("text");
});

test("a preview of JSON text keeps its structure, and one of plain text its beginning", () => {
  const json = short(
    toRaw({ content: [{ type: "text", text: JSON.stringify(Array(9_000).fill({ a: 1 })) }] }),
  );
  expect(json.answer.content[0].text).toContain('[{"a":1},{"a":1}');
  expect(json.answer.content[0].text).toMatch(/more objects like \{a: number\}/);
  const plain = short(toRaw({ content: [{ type: "text", text: "first line\n".repeat(20_000) }] }));
  expect(plain.answer.content[0].text).toContain("first line\nfirst line\n");
  for (const { bytes, answer } of [json, plain]) {
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(answer.structuredContent).toBeUndefined();
  }
});

test("images and audio have a budget of 10 MB; only larger ones are named instead of shown", () => {
  const media = (bytes: number, type = "image") => ({ type, mimeType: `${type}/x`, data: "A".repeat(bytes) });
  const within = (...content: object[]): boolean => isWithin(toRaw({ content }), 102_400);
  expect(within(media(1_200_000), { type: "text", text: "x".repeat(90_000) })).toBe(true);
  expect(within(media(5_000_000), media(5_000_000, "audio"))).toBe(true);
  expect(within(media(5_000_000), media(6_000_000))).toBe(false);
  expect(within(media(1_000), { type: "text", text: "x".repeat(102_400) })).toBe(false);
  // A block without data is text for a model, whatever it calls itself.
  expect(within({ type: "image", mimeType: "x", text: "x".repeat(200_000) })).toBe(false);

  const { answer, bytes } = short(
    toRaw({ content: [media(5_000_000), media(6_000_000, "audio"), media(9)] }),
  );
  expect(answer.content.slice(2)).toEqual([media(5_000_000), media(9)]);
  expect(answer.content[0].text).toMatch(/contains audio audio\/x \(6,000,\d+ bytes\)/);
  expect(bytes).toBeLessThanOrEqual(5_000_200 + MAX_BYTES);

  const text = short(toRaw({ content: [{ type: "text", text: "word ".repeat(50_000) }, media(300_000)] }));
  expect(text.answer.content[0].text).toContain("maxResultBytes is 102,400. Only a preview is shown.");
  expect(text.answer.content.at(-1)).toEqual(media(300_000));
  expect(text.bytes - 300_000).toBeLessThanOrEqual(MAX_BYTES);
  expect(text.bytes - 300_000).toBeGreaterThan(2_000);
});

test("a short result of any input, also hostile input, has at most 4 KB", () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const random = new Random(seed);
      const value = (): string => randomJson(random, 6);
      const key = "\\u0000".repeat(random.int(3_000));
      const written = `{"content":[${value()},{"type":"text","text":${JSON.stringify(value().repeat(random.int(50)))}}],"structuredContent":{"${key}":[${Array.from({ length: 50 }, value).join(",")}]},"_meta":{"x":${value()}},"isError":true}`;
      const { bytes, answer } = short(asRaw(Buffer.from(written)));
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
      expect(answer.isError).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("a short result of very wide or long values has at most 4 KB", () => {
  const keys = Array.from({ length: 3_000 }, (_, n) => [`key ${n}`, `"${"value ".repeat(3)}${n}"`]);
  const { bytes } = short(toRaw({ content: [], structuredContent: Object.fromEntries(keys) }));
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  for (let length = 1_500; length < 2_600; length += 50) {
    const words = Array.from({ length: 60 }, () => "x".repeat(length));
    expect(
      short(toRaw({ content: [{ type: "text", text: JSON.stringify(words) }] })).bytes,
    ).toBeLessThanOrEqual(MAX_BYTES);
  }
});

test("a short result without any text says what it contains, and nothing of a preview", () => {
  const file = { type: "resource", resource: { uri: "x:y", blob: "A".repeat(200_000) } };
  const { answer } = short(toRaw({ content: [file] }));
  expect(answer.content[0].text).toMatch(
    /^This result has 200,0\d\d bytes; maxResultBytes is 102,400\. It contains resource \(200,0\d\d bytes\)\. Read on with .*\)\.$/,
  );
});
