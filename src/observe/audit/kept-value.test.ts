import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { keptArguments, keptResult } from "./kept-value.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const read = (text: string | undefined): unknown => text && JSON.parse(text);

test("names tell no value", () => {
  const args = raw('{ "query": "hello", "deep": {"secret": 1} }');
  expect(keptArguments(args, "none")).toBeUndefined();
  expect(read(keptArguments(args, "names"))).toEqual(["query", "deep"]);
  expect(read(keptResult(raw('{"structuredContent": {"sum": 7}}'), "names"))).toEqual(["sum"]);
  const content = [{ type: "text", text: "hello" }, { type: "image", data: "AA" }, { type: "text" }, 7];
  expect(read(keptResult(toRaw({ content }), "names"))).toEqual(["text", "image"]);
});

test("names are all that there are, however often they were met before", () => {
  const objects = fc.dictionary(fc.string({ unit: "binary", maxLength: 140 }), fc.jsonValue());
  fc.assert(
    fc.property(objects, fc.nat(2), (value, indent) => {
      const written = raw(JSON.stringify(value, undefined, indent));
      const names = Object.keys(JSON.parse(written.toString())).map((name) => name.slice(0, 128));
      expect(read(keptArguments(written, "names"))).toEqual(names);
      expect(read(keptResult(toRaw({ structuredContent: value, content: [] }), "names"))).toEqual(names);
    }),
  );
});

test("values are those that were written, digit for digit and on one line", () => {
  const kept = keptArguments(raw('{\n "n": 12345678901234567890,\r\n "f": 1.0 }'), "full");
  expect(kept).toBe('{  "n": 12345678901234567890,   "f": 1.0 }');
  const hidden = keptArguments(
    toRaw({ password: "hunter2", list: ["ghp_0123456789abcdef0123"] }),
    "redacted",
  );
  expect(hidden).not.toMatch(/hunter2|ghp_/);
});

test("whatever is kept is JSON on one line, of bounded size", () => {
  const kinds = fc.constantFrom("none", "names", "redacted", "full");
  const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
  fc.assert(
    fc.property(objects, kinds, fc.nat(2), (value, kept, indent) => {
      const written = raw(JSON.stringify(value, undefined, indent));
      for (const text of [keptArguments(written, kept), keptResult(written, kept)]) {
        if (text === undefined) continue;
        expect(text).not.toMatch(/[\n\r]/);
        expect(() => JSON.parse(text)).not.toThrow();
      }
    }),
  );
  expect(read(keptResult(toRaw({ content: "x".repeat(20_000) }), "full"))).toEqual({ tooLarge: 20_014 });
});
