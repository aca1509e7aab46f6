import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw } from "../../kernel/raw.ts";
import { readTool } from "../read-tool.ts";
import type { Tool } from "../tool.ts";
import { canonical } from "./canonical.ts";
import { digestOf, fingerprintOf, fingerprintsOf } from "./fingerprint.ts";

const raw = (text: string) => asRaw(Buffer.from(text));
const tool = (text: string): Tool => readTool("s", raw(text)) as Tool;
const hash = (text: string): string => fingerprintOf(tool(text)).hash;

/** The same value in another notation: keys in another order, white space, escapes. */
function rewritten(value: unknown, flip: boolean): string {
  const gap = flip ? " " : "";
  if (Array.isArray(value))
    return `[${gap}${value.map((one) => rewritten(one, !flip)).join(`${gap},`)}${gap}]`;
  if (typeof value === "string")
    return flip
      ? `"${[...Array(value.length).keys()].map((at) => `\\u${value.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`
      : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, one]) => `${rewritten(key, flip)}${gap}:${rewritten(one, !flip)}`,
  );
  return `{${gap}${(flip ? members.reverse() : members).join(",")}${gap}}`;
}

const json = fc.jsonValue({ maxDepth: 5 });

test("the canonical form ignores key order, white space and escapes", () => {
  fc.assert(
    fc.property(json, fc.boolean(), (value, flip) => {
      expect(canonical(raw(rewritten(value, flip)))).toBe(canonical(raw(JSON.stringify(value))));
    }),
  );
});

/** A value, and a copy with one small change. */
const nearby = fc
  .tuple(json, fc.nat(), fc.nat())
  .map(
    ([value, place, change]) =>
      [value, altered(value, { left: place % (1 + sizeOf(value)) }, change)] as const,
  );

test("the canonical form differs for values with one difference, and parses to the same value", () => {
  fc.assert(
    fc.property(nearby, (pair) => {
      const [one, other] = pair.map((value) => canonical(raw(JSON.stringify(value)))) as [string, string];
      const [a, b] = pair.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      expect([JSON.parse(one), JSON.parse(other)]).toEqual([a, b]);
      expect(one === other).toBe(isDeepStrictEqual(a, b));
    }),
    { numRuns: 400 },
  );
});

function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + 1 + sizeOf(one), 0);
}

/** Changes the place that `at.left` counts down to: a leaf, a key, the order, or the number of elements. */
function altered(value: unknown, at: { left: number }, change: number): unknown {
  if (at.left-- === 0) return changed(value, change);
  if (Array.isArray(value)) return value.map((one) => altered(one, at, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, altered(one, at, change)]));
}

function changed(value: unknown, change: number): unknown {
  const ways: unknown[] = [[value], { a: value }, null];
  if (typeof value === "string") ways.push(`${value} `, value.slice(1), value.toUpperCase(), Number(value));
  else if (typeof value === "number") ways.push(value + 1, -value, String(value));
  else if (typeof value === "boolean") ways.push(!value, String(value));
  else if (Array.isArray(value)) ways.push(value.toReversed(), value.slice(1), { ...value }, [value, value]);
  else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    ways.push(Object.fromEntries(entries.slice(1)), entries, Object.values(value));
    ways.push(Object.fromEntries(entries.map(([key, one]) => [`${key} `, one])));
    ways.push(Object.fromEntries(entries.toReversed()));
  }
  return ways[change % ways.length];
}

const BASE = '{"name":"t","description":"d","inputSchema":{"type":"object"}}';

test.each([
  ["its description", '{"name":"t","description":"D","inputSchema":{"type":"object"}}'],
  ["no description", '{"name":"t","inputSchema":{"type":"object"}}'],
  ["an invisible character", '{"name":"t","description":"d\\u200b","inputSchema":{"type":"object"}}'],
  ["its input schema", '{"name":"t","description":"d","inputSchema":{"type":"object","required":["x"]}}'],
  ["an output schema", `${BASE.slice(0, -1)},"outputSchema":{"type":"object"}}`],
  ["annotations", `${BASE.slice(0, -1)},"annotations":{"readOnlyHint":true}}`],
  ["a title", `${BASE.slice(0, -1)},"title":"T"}`],
  ["a second description", `${BASE.slice(0, -1)},"description":"other"}`],
])("the fingerprint changes with %s", (_what, other) => {
  expect(hash(other)).not.toBe(hash(BASE));
});

test.each([
  ["_meta and icons", `${BASE.slice(0, -1)},"_meta":{"build":7},"icons":[]}`],
  ["the first of two descriptions", `{"description":"first",${BASE.slice(1)}`],
  ["order and layout", '{ "inputSchema" : {"type":"object"}, "description":"\\u0064", "name":"t" }'],
])("the fingerprint ignores %s", (_what, other) => {
  expect(hash(other)).toBe(hash(BASE));
});

test("the fingerprint depends on every digit of a number, beyond the precision of a double", () => {
  const most = (digits: string): string =>
    hash(`{"name":"t","inputSchema":{"type":"object","properties":{"n":{"maximum":${digits}}}}}`);
  expect(most("9007199254740993")).not.toBe(most("9007199254740992"));
  expect(most("12345678901234567890")).not.toBe(most("12345678901234567891"));
  expect(most("12345678901234567890")).toBe(most("12345678901234567890"));
});

test("values nested beyond the depth limit are still compared", () => {
  const deep = (core: string): string => `${'{"a":'.repeat(5_000)}${core}${"}".repeat(5_000)}`;
  expect(canonical(raw(deep("1")))).not.toBe(canonical(raw(deep("2"))));
  expect(canonical(raw(deep("1")))).toBe(canonical(raw(deep("1"))));
});

test("canonical terminates for any text and reads valid JSON as JSON.parse does", () => {
  const pieces = fc.array(fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", "1", '"a"', " ", "x"), {
    maxLength: 12,
  });
  const damaged = fc.tuple(json, fc.boolean(), fc.nat()).map(([value, flip, place]) => {
    const text = rewritten(value, flip);
    const at = place % text.length;
    return text.slice(0, at) + text.slice(at + 1);
  });
  let read = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((parts) => parts.join("")),
        damaged,
      ),
      (text) => {
        const value = parsed(text);
        if (value !== undefined) {
          read += 1;
          expect(JSON.parse(canonical(raw(text)))).toEqual(value);
        } else attempt(() => canonical(raw(text)));
      },
    ),
    { numRuns: 2_000 },
  );
  // Otherwise the property was hardly tested.
  expect(read).toBeGreaterThan(200);
  for (const text of ["", "{", "[", "[}", '{"a"', '"a', `${"[".repeat(200)}`])
    expect(() => canonical(raw(text)), text).toThrow();
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Accepts a failure only if it is an Error. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
}

test("names of built-in members such as __proto__ are treated as ordinary names", () => {
  const odd = '{"name":"__proto__","inputSchema":{"__proto__":{"a":1},"constructor":1}}';
  expect(fingerprintOf(tool(odd)).definition).toContain('"__proto__":{"a":1}');
});

test("a list has one fingerprint per tool, and its digest depends on where each definition ends", async () => {
  const tools = Array.from({ length: 700 }, (_, at) =>
    tool(`{"name":"t${at}","description":"${"x".repeat(1000)}"}`),
  );
  expect((await fingerprintsOf("tools", tools)).map(({ name }) => name)).toEqual(
    tools.map(({ name }) => name),
  );
  const list = (...texts: string[]) => texts.map((text) => ({ definition: raw(text) }));
  expect(digestOf(list("ab", "c"))).not.toBe(digestOf(list("a", "bc")));
});
