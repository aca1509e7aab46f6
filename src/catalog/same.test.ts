import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { readTool } from "./read-tool.ts";
import { sameEntries, sameJson } from "./same.ts";
import type { Tool } from "./tool.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const tool = (definition: object): Tool => readTool("s", toRaw(definition)) as Tool;

/** The same value with the members of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]));
}

test("sameJson ignores white space and the order of members", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const written = toRaw(value);
      expect(sameJson(written, raw(JSON.stringify(reversed(JSON.parse(written.toString())), null, 2)))).toBe(
        true,
      );
    }),
  );
});

test("sameJson distinguishes different values", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, other] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      let equal = true;
      try {
        expect(one).toStrictEqual(other);
      } catch {
        equal = false;
      }
      expect(sameJson(toRaw(a), toRaw(b))).toBe(equal);
    }),
  );
});

test("sameJson compares the order of elements, every digit, and the number of members", () => {
  expect(sameJson(raw("[1,2]"), raw("[2,1]"))).toBe(false);
  expect(sameJson(raw('{"n":12345678901234567890}'), raw('{ "n":12345678901234567891}'))).toBe(false);
  expect(sameJson(raw('{"a":1}'), raw('{"a":1,"b":2}'))).toBe(false);
  expect(sameJson(raw('{"a":2,"a":2}'), raw('{"a":2,"b":1}'))).toBe(false);
});

test("sameJson handles 100,000 nested arrays", () => {
  const deep = (core: string): Raw => raw("[".repeat(100_000) + core + "]".repeat(100_000));
  expect(sameJson(deep("1"), deep("1"))).toBe(true);
  expect(sameJson(deep("1"), deep("2"))).toBe(false);
});

test("sameEntries ignores the order of tools and detects any difference", () => {
  const a = tool({ name: "a", inputSchema: {} });
  const b = tool({ name: "b", annotations: { readOnlyHint: true } });
  expect(sameEntries([a, b], [b, a])).toBe(true);
  expect(sameEntries([a, b], [a])).toBe(false);
  expect(sameEntries([a, b], [a, tool({ name: "b", annotations: { readOnlyHint: false } })])).toBe(false);
  expect(sameEntries([a, b], [tool({ name: "b" }), a])).toBe(false);
  expect(sameEntries([a], [b])).toBe(false);
  expect(sameEntries([], [])).toBe(true);
});
