import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indentJson } from "./indent-json.ts";
import { countMembers, kindOf, membersOf, pathText, rootSpan, type Span } from "./json-text.ts";

const root = (text: string) => rootSpan(text) as Span;
const members = (text: string) =>
  [...membersOf(text, root(text))].map(({ key, start, end }) => [key, text.slice(start, end)]);

describe("JSON text", () => {
  it("finds the members of objects and arrays and keeps all digits", () => {
    expect(members(' { "id" : 12345678901234567890 , "a,b":[1, {"x":"]}"}] ,"":null}\n')).toEqual([
      ["id", "12345678901234567890"],
      ["a,b", '[1, {"x":"]}"}]'],
      ["", "null"],
    ]);
    expect(members('[ 0.10, "a\\"]\\\\", true ]')).toEqual([
      [0, "0.10"],
      [1, '"a\\"]\\\\"'],
      [2, "true"],
    ]);
    expect(members("{ }")).toEqual([]);
    expect(members("[]")).toEqual([]);
  });

  it("keeps duplicate keys", () => {
    expect(members('{"a":1,"a":2}')).toEqual([
      ["a", "1"],
      ["a", "2"],
    ]);
  });

  it("recognizes the kinds of values, and text that is not JSON", () => {
    expect(["{}", "[]", '""', "-1", "null", " true"].map((text) => kindOf(text, root(text)))).toEqual([
      "object",
      "array",
      "string",
      "number",
      "word",
      "word",
    ]);
    expect(rootSpan("{a:1}")).toBeUndefined();
    expect(rootSpan("")).toBeUndefined();
  });

  it("finds the same members as JSON.parse", () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 2 }), (json, margin) => {
        const value = JSON.parse(json) as unknown;
        const text = JSON.stringify(value, null, margin);
        if (typeof value !== "object" || value === null) return;
        expect(members(text).map(([key, part]) => [key, JSON.parse(String(part))])).toEqual(
          Array.isArray(value) ? value.map((one, at) => [at, one]) : Object.entries(value),
        );
        expect(indentJson(text)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("counts the members of small values only", () => {
    expect(countMembers("[1,2,3]", root("[1,2,3]"))).toBe(3);
    const many = JSON.stringify(Array.from({ length: 2000 }, () => 0));
    expect(countMembers(many, root(many))).toBeUndefined();
    const long = JSON.stringify(["x".repeat(200_000)]);
    expect(countMembers(long, root(long))).toBeUndefined();
  });

  it("handles deep nesting", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const [first] = membersOf(deep, root(deep));
    expect(first).toEqual({ key: 0, start: 1, end: 99_999 });
    expect(indentJson(deep).length).toBeGreaterThan(deep.length);
  });
});

it("pathText writes paths as in code", () => {
  expect(pathText([])).toBe("$");
  expect(pathText(["items", 3, "name"])).toBe("items[3].name");
  expect(pathText([0, "odd key", 'a"b'])).toBe('[0]["odd key"]["a\\"b"]');
});

it("indentJson keeps digits, and leaves text that is not JSON unchanged", () => {
  expect(indentJson("not json")).toBe("not json");
  expect(indentJson('{"n":12345678901234567890,"e":{},"l":[]}')).toBe(
    '{\n  "n": 12345678901234567890,\n  "e": {},\n  "l": []\n}',
  );
});
