import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { auditArguments, auditResult } from "./audit-value.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const read = (text: string | undefined): unknown => text && JSON.parse(text);

test("names contain no values", () => {
  const args = raw('{ "query": "hello", "deep": {"secret": 1} }');
  expect(auditArguments(args, "none")).toBeUndefined();
  expect(read(auditArguments(args, "names"))).toEqual(["query", "deep"]);
  expect(read(auditResult(raw('{"structuredContent": {"sum": 7}}'), "names"))).toEqual(["sum"]);
  const content = [{ type: "text", text: "hello" }, { type: "image", data: "AA" }, { type: "text" }, 7];
  expect(read(auditResult(toRaw({ content }), "names"))).toEqual(["text", "image"]);
});

test("all names are recorded, whether they are cached or not", () => {
  const objects = fc.dictionary(fc.string({ unit: "binary", maxLength: 140 }), fc.jsonValue());
  fc.assert(
    fc.property(objects, fc.nat(2), (value, indent) => {
      const written = raw(JSON.stringify(value, undefined, indent));
      const names = Object.keys(JSON.parse(written.toString())).map((name) => name.slice(0, 128));
      expect(read(auditArguments(written, "names"))).toEqual(names);
      expect(read(auditResult(toRaw({ structuredContent: value, content: [] }), "names"))).toEqual(names);
    }),
  );
});

test("values keep their digits and are written on one line", () => {
  const full = auditArguments(raw('{\n "n": 12345678901234567890,\r\n "f": 1.0 }'), "full");
  expect(full).toBe('{  "n": 12345678901234567890,   "f": 1.0 }');
  const redacted = auditArguments(
    toRaw({ password: "hunter2", list: ["ghp_0123456789abcdef0123"] }),
    "redacted",
  );
  expect(redacted).not.toMatch(/hunter2|ghp_/);
});

test("every recorded value is JSON on one line, of bounded size", () => {
  const details = fc.constantFrom("none", "names", "redacted", "full");
  const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
  fc.assert(
    fc.property(objects, details, fc.nat(2), (value, detail, indent) => {
      const written = raw(JSON.stringify(value, undefined, indent));
      for (const text of [auditArguments(written, detail), auditResult(written, detail)]) {
        if (text === undefined) continue;
        expect(text).not.toMatch(/[\n\r]/);
        expect(() => JSON.parse(text)).not.toThrow();
      }
    }),
  );
  for (const detail of ["redacted", "full"] as const)
    for (const size of [20_000, 1_000_000]) {
      const text = auditResult(toRaw({ content: `${"x".repeat(size)} and the end` }), detail) ?? "";
      expect(text.length).toBeLessThan(40_000);
      expect(text.slice(-30)).toContain("and the end");
    }
});

test("a caller cannot hide a redacted argument behind a word that looks like a secret, or behind a repeated name", () => {
  const command = "rm -rf /srv/data; : Bearer aaaaaaaa";
  expect(read(auditArguments(toRaw({ command }), "redacted"))).toEqual({
    command: "rm -rf /srv/data; : Bearer [secret, 8 characters hidden]",
  });
  expect(auditArguments(raw('{"run": "rm", "run": "ls"}'), "redacted")).toMatch(/rm.*ls/);
});
