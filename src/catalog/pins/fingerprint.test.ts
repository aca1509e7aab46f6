import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw } from "../../kernel/raw.ts";
import { readTool } from "../read-tool.ts";
import type { Tool } from "../tool.ts";
import { canonical } from "./canonical.ts";
import { digestOf, printOf, printsOf } from "./fingerprint.ts";

const raw = (text: string) => asRaw(Buffer.from(text));
const tool = (text: string): Tool => readTool("s", raw(text)) as Tool;
const hash = (text: string): string => printOf(tool(text)).hash;

/** The same value, written another way: keys in another order, white space, escapes. */
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

test("order of keys, layout and escapes say nothing", () => {
  fc.assert(
    fc.property(json, fc.boolean(), (value, flip) => {
      expect(canonical(raw(rewritten(value, flip)))).toBe(canonical(raw(JSON.stringify(value))));
    }),
  );
});

test("what means something else is written otherwise, and what is written is that value", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      const [one, other] = [a, b].map((value) => canonical(raw(JSON.stringify(value))));
      expect(one === other).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      expect(JSON.parse(one as string)).toEqual(JSON.parse(JSON.stringify(a)));
    }),
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => [key, sorted(one)]);
  // Not a list, which it could be taken for.
  return { members };
}

const BASE = '{"name":"t","description":"d","inputSchema":{"type":"object"}}';

test.each([
  ["its description", '{"name":"t","description":"D","inputSchema":{"type":"object"}}'],
  ["no description", '{"name":"t","inputSchema":{"type":"object"}}'],
  ["a character nobody sees", '{"name":"t","description":"d\\u200b","inputSchema":{"type":"object"}}'],
  ["its input schema", '{"name":"t","description":"d","inputSchema":{"type":"object","required":["x"]}}'],
  ["an output schema", `${BASE.slice(0, -1)},"outputSchema":{"type":"object"}}`],
  ["annotations", `${BASE.slice(0, -1)},"annotations":{"readOnlyHint":true}}`],
  ["a title", `${BASE.slice(0, -1)},"title":"T"}`],
  ["a description that comes twice", `${BASE.slice(0, -1)},"description":"other"}`],
])("a change of %s is one", (_what, other) => {
  expect(hash(other)).not.toBe(hash(BASE));
});

test.each([
  ["what only programs read", `${BASE.slice(0, -1)},"_meta":{"build":7},"icons":[]}`],
  ["the first of two descriptions", `{"description":"first",${BASE.slice(1)}`],
  ["order and layout", '{ "inputSchema" : {"type":"object"}, "description":"\\u0064", "name":"t" }'],
])("a change of %s is none", (_what, other) => {
  expect(hash(other)).toBe(hash(BASE));
});

test("numbers count by every digit, beyond what a double holds", () => {
  const most = (digits: string): string =>
    hash(`{"name":"t","inputSchema":{"type":"object","properties":{"n":{"maximum":${digits}}}}}`);
  expect(most("9007199254740993")).not.toBe(most("9007199254740992"));
  expect(most("12345678901234567890")).not.toBe(most("12345678901234567891"));
  expect(most("12345678901234567890")).toBe(most("12345678901234567890"));
});

test("what is nested beyond reason is compared all the same", () => {
  const deep = (core: string): string => `${'{"a":'.repeat(5_000)}${core}${"}".repeat(5_000)}`;
  expect(canonical(raw(deep("1")))).not.toBe(canonical(raw(deep("2"))));
  expect(canonical(raw(deep("1")))).toBe(canonical(raw(deep("1"))));
});

test("what is no JSON ends it with an error, whatever it is", () => {
  const pieces = fc.array(fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", "1", '"a"', " ", "x"), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(pieces, (parts) => {
      try {
        canonical(raw(parts.join("")));
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
    { numRuns: 5_000 },
  );
  for (const text of ["", "{", "[", "[}", '{"a"', '"a', `${"[".repeat(200)}`])
    expect(() => canonical(raw(text)), text).toThrow();
});

test("names like those of built-in members are names like others", () => {
  const odd = '{"name":"__proto__","inputSchema":{"__proto__":{"a":1},"constructor":1}}';
  expect(printOf(tool(odd)).definition).toContain('"__proto__":{"a":1}');
});

test("a list has one print per tool, and a digest that no boundary can be shifted in", async () => {
  const tools = Array.from({ length: 700 }, (_, at) =>
    tool(`{"name":"t${at}","description":"${"x".repeat(1000)}"}`),
  );
  expect((await printsOf(tools)).map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  const list = (...texts: string[]) => texts.map((text) => ({ definition: raw(text) }));
  expect(digestOf(list("ab", "c"))).not.toBe(digestOf(list("a", "bc")));
});
