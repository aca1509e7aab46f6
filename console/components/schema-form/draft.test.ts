import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkDraft } from "./check-draft.ts";
import {
  type Draft,
  draftOf,
  isMap,
  JsonText,
  NumberText,
  readDraft,
  withItem,
  withMember,
  writeDraft,
} from "./draft.ts";
import { variantOf } from "./fits.ts";
import { startDraft } from "./start-draft.ts";

describe("a draft", () => {
  it("is written as the same JSON that was read, with all digits", () => {
    const json = '{"id":12345678901234567890,"n":0.10,"list":[1e400,null,true,""],"deep":{"a":{}}}';
    expect(writeDraft(readDraft(json))).toBe(json);
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain = JSON.stringify(JSON.parse(text));
        expect(writeDraft(readDraft(plain))).toBe(plain);
      }),
    );
    expect(readDraft("{")).toBeUndefined();
  });

  it("keeps members named __proto__ and constructor", () => {
    const json = '{"__proto__":{"x":1},"constructor":2}';
    expect(writeDraft(readDraft(json))).toBe(json);
    expect(writeDraft(withMember(readDraft(json), "__proto__", undefined))).toBe('{"constructor":2}');
  });

  it("writes incomplete numbers and JSON as strings", () => {
    expect(writeDraft(new NumberText("12x"))).toBe('"12x"');
    expect(writeDraft(new JsonText('{"a":'))).toBe('"{\\"a\\":"');
    expect(writeDraft(new JsonText(" [1, 2] "))).toBe("[1, 2]");
    expect(writeDraft(new JsonText(" "))).toBeUndefined();
    expect(writeDraft(new Map<string, Draft>([["a", undefined]]))).toBe("{}");
    expect(writeDraft([undefined, "b"])).toBe('[null,"b"]');
  });

  it("keeps the order when a member or item changes", () => {
    const draft = readDraft('{"a":1,"b":2}');
    expect(writeDraft(withMember(draft, "a", "x"))).toBe('{"a":"x","b":2}');
    expect(writeDraft(withMember(draft, "a", undefined))).toBe('{"b":2}');
    expect(writeDraft(withMember(undefined, "a", null))).toBe('{"a":null}');
    expect(writeDraft(withItem(readDraft("[1,2]"), 1, false))).toBe("[1,false]");
    expect(writeDraft(withItem(undefined, 1, "b"))).toBe('[null,"b"]');
  });

  it("starts with the required members whose values are known", () => {
    const schema = {
      type: "object",
      properties: {
        mode: { const: "fast" },
        count: { type: "integer", default: 10 },
        optional: { type: "integer", default: 5 },
        dry: { type: "boolean" },
        text: { type: "string" },
        nested: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
        list: { type: "array", items: { type: "string" } },
      },
      required: ["mode", "count", "dry", "text", "nested", "list"],
    };
    expect(writeDraft(startDraft(schema))).toBe(
      '{"mode":"fast","count":10,"dry":false,"nested":{"on":false},"list":[]}',
    );
    expect(writeDraft(startDraft({ type: "object", default: { a: 1 } }))).toBe('{"a":1}');
  });

  it("has limited depth if a schema requires itself", () => {
    const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
    const written = writeDraft(startDraft(schema)) ?? "";
    expect(written.length).toBeLessThan(200);
  });
});

describe("checkDraft", () => {
  const check = (schema: unknown, draft: Draft) =>
    checkDraft(schema, draft).map(({ path, text }) => `${path.join(".")}: ${text}`);

  it("reports missing values with their path", () => {
    const schema = {
      properties: {
        a: { properties: { b: { type: "string" } }, required: ["b"] },
        list: { items: { type: "string" } },
      },
      required: ["a"],
    };
    expect(check(schema, draftOf({}))).toEqual(["a: Required."]);
    expect(check(schema, draftOf({ a: {} }))).toEqual(["a.b: Required."]);
    expect(
      check(
        schema,
        new Map<string, Draft>([
          ["a", draftOf({ b: "" })],
          ["list", ["x", undefined]],
        ]),
      ),
    ).toEqual(["list.1: Required."]);
  });

  it("checks numbers, bounds, lengths and patterns", () => {
    const of = (schema: object, draft: Draft) =>
      check({ properties: { x: schema } }, new Map([["x", draft]]));
    expect(of({ type: "number" }, new NumberText("1,5"))).toEqual(["x: Not a number."]);
    expect(of({ type: "integer" }, new NumberText("1.5"))).toEqual(["x: Not a whole number."]);
    expect(of({ type: "integer", minimum: 1 }, new NumberText("0"))).toEqual(["x: At least 1."]);
    expect(of({ type: "number", exclusiveMaximum: 1 }, new NumberText("1"))).toEqual(["x: Less than 1."]);
    expect(of({ type: "string", maxLength: 2 }, "👍👍👍")).toEqual(["x: At most 2 characters."]);
    expect(of({ type: "string", pattern: "^a" }, "b")).toEqual(["x: Must match ^a."]);
    expect(
      of({ type: "string", pattern: "^(a+)+$" }, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    ).toEqual([]);
    expect(of({ type: "string", pattern: "[" }, "b")).toEqual([]);
    expect(of({ type: "array", minItems: 2 }, [])).toEqual(["x: At least 2 items."]);
    expect(of({}, new JsonText("{a"))).toEqual(["x: Not JSON."]);
  });

  it("does not report values that only the gateway can check", () => {
    expect(check({ properties: { x: { type: "string" } } }, draftOf({ x: 5, other: [] }))).toEqual([]);
    expect(
      check({ properties: { x: { type: ["string", "null"] } }, required: ["x"] }, draftOf({ x: null })),
    ).toEqual([]);
  });

  it("checks against the variant that the value matches", () => {
    const schema = {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, n: { type: "integer" } },
          required: ["kind", "n"],
        },
        {
          type: "object",
          properties: { kind: { const: "b" }, s: { type: "string" } },
          required: ["kind", "s"],
        },
      ],
    };
    expect(check(schema, draftOf({ kind: "b" }))).toEqual(["s: Required."]);
    expect(check(schema, draftOf({ kind: "a" }))).toEqual(["n: Required."]);
  });
});

it("variantOf finds the variant that a value matches", () => {
  const variants = [
    { label: "text", schema: { type: "string" } },
    { label: "a", schema: { type: "object", properties: { kind: { const: "a" } } } },
    {
      label: "b",
      schema: { type: "object", properties: { kind: { const: "b" }, more: { type: "string" } } },
    },
    { label: "list", schema: { type: "array" } },
  ];
  const of = (value: unknown) => variants[variantOf(variants, draftOf(value), { root: {} })]?.label;
  expect(of("x")).toBe("text");
  expect(of({ kind: "a", more: "x" })).toBe("a");
  expect(of({ kind: "b" })).toBe("b");
  expect(of([])).toBe("list");
  expect(of(undefined)).toBe("text");
  expect(variantOf(variants, draftOf({}), { root: {}, picked: 2 })).toBe(2);
  expect(variantOf(variants, draftOf({ kind: "a" }), { root: {}, picked: 2 })).toBe(1);
});

it("draftOf returns a map for an object and a list for an array", () => {
  expect(isMap(draftOf({}))).toBe(true);
  expect(isMap(draftOf([]))).toBe(false);
});
