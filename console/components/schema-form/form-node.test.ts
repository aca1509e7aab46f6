import { describe, expect, it } from "vitest";
import { type FormNode, nodeOf } from "./form-node.ts";

const node = (schema: unknown, root: unknown = schema) => nodeOf(schema, root);
const as = <Kind extends FormNode["kind"]>(one: FormNode, kind: Kind) => {
  expect(one.kind).toBe(kind);
  return one as FormNode & { readonly kind: Kind };
};

describe("nodeOf", () => {
  it("reads plain types with title, description, default, examples and bounds", () => {
    expect(
      node({ type: "string", title: "T", description: "D", default: "x", examples: ["y"] }),
    ).toMatchObject({
      kind: "text",
      title: "T",
      description: "D",
      defaultValue: "x",
      examples: ["y"],
      nullable: false,
    });
    expect(node({ type: "integer", minimum: 1, exclusiveMaximum: 9 })).toMatchObject({
      kind: "number",
      whole: true,
      size: { least: 1, below: 9 },
    });
    expect(node({ type: "number", minimum: 1, exclusiveMinimum: true })).toMatchObject({
      size: { above: 1 },
    });
    expect(node({ type: "boolean" }).kind).toBe("boolean");
    expect(node({ type: "null" }).kind).toBe("null");
  });

  it("lists members in order and marks required ones", () => {
    const object = as(
      node({ type: "object", properties: { b: {}, a: {}, never: false }, required: ["a", "undescribed"] }),
      "object",
    );
    expect(object.members.map(({ name, required }) => `${name}${required ? "!" : ""}`)).toEqual([
      "b",
      "a!",
      "undescribed!",
    ]);
    expect(object.additional).toBeUndefined();
  });

  it("allows additional members if the schema describes no members, or describes additional ones", () => {
    expect(as(node({ type: "object" }), "object").additional).toBe(true);
    expect(
      as(node({ type: "object", additionalProperties: { type: "string" } }), "object").additional,
    ).toEqual({
      type: "string",
    });
    expect(as(node({ type: "object", additionalProperties: false }), "object").additional).toBeUndefined();
    expect(
      as(node({ patternProperties: { "^x": { type: "number" } }, additionalProperties: false }), "object")
        .additional,
    ).toEqual({ type: "number" });
  });

  it("reads lists and tuples in the old and the new syntax", () => {
    expect(node({ type: "array", items: { type: "string" }, minItems: 1 })).toMatchObject({
      kind: "array",
      prefix: [],
      items: { type: "string" },
      size: { least: 1 },
    });
    expect(node({ prefixItems: [{ type: "string" }], items: false })).toMatchObject({ items: false });
    expect(node({ items: [{ type: "string" }], additionalItems: { type: "number" } })).toMatchObject({
      prefix: [{ type: "string" }],
      items: { type: "number" },
    });
    expect(node({ type: "array" })).toMatchObject({ items: true });
  });

  it("treats null among types or variants as nullable", () => {
    expect(node({ type: ["string", "null"] })).toMatchObject({ kind: "text", nullable: true });
    expect(node({ anyOf: [{ type: "integer" }, { type: "null" }], title: "T" })).toMatchObject({
      kind: "number",
      nullable: true,
      title: "T",
    });
    expect(node({ type: "string", nullable: true })).toMatchObject({ kind: "text", nullable: true });
  });

  it("reads enums and variants with a single value as choices", () => {
    expect(as(node({ enum: ["a", 2, null, ""] }), "choice").choices.map(({ label }) => label)).toEqual([
      "a",
      "2",
      "null",
      '""',
    ]);
    expect(as(node({ oneOf: [{ const: "a", title: "First" }, { enum: ["b"] }] }), "choice").choices).toEqual([
      { value: "a", label: "First" },
      { value: "b", label: "b" },
    ]);
    expect(node({ const: 7 })).toMatchObject({ kind: "const", value: 7 });
  });

  it("labels variants by title, constants, required members or type", () => {
    const union = as(
      node({
        oneOf: [
          { title: "By id", type: "object" },
          { type: "object", properties: { kind: { const: "file" }, path: {} } },
          { type: "object", properties: { url: {} }, required: ["url"] },
          { type: "string" },
        ],
      }),
      "union",
    );
    expect(union.variants.map(({ label }) => label)).toEqual(["By id", "kind: file", "url", "string"]);
    expect(as(node({ type: ["string", "number"] }), "union").variants.map(({ label }) => label)).toEqual([
      "string",
      "number",
    ]);
  });

  it("ignores variants that only require members, and adds shared members to the others", () => {
    const either = {
      type: "object",
      properties: { a: {}, b: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(as(node(either), "object").members).toHaveLength(2);
    const shared = as(
      node({
        type: "object",
        properties: { id: { type: "string" } },
        oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
      }),
      "union",
    );
    const [first] = shared.variants;
    expect(as(node(first?.schema), "object").members.map(({ name }) => name)).toEqual(["id", "a"]);
  });

  it("reads base64 text as a file", () => {
    expect(node({ type: "string", contentEncoding: "base64", contentMediaType: "image/png" })).toMatchObject({
      kind: "file",
      mediaType: "image/png",
    });
    expect(node({ type: "string", format: "byte" }).kind).toBe("file");
  });

  it("resolves references, including circular ones", () => {
    const root = {
      $defs: {
        node: {
          type: "object",
          properties: { value: { type: "string" }, next: { $ref: "#/$defs/node" } },
          required: ["value"],
        },
        loop: { $ref: "#/$defs/loop" },
        "a/b": { type: "boolean" },
        named: { $anchor: "here", type: "integer" },
      },
    };
    const first = as(nodeOf({ $ref: "#/$defs/node", description: "Own" }, root), "object");
    expect(first.description).toBe("Own");
    const next = as(nodeOf(first.members[1]?.schema, root), "object");
    expect(next.members.map(({ name }) => name)).toEqual(["value", "next"]);
    expect(nodeOf({ $ref: "#/$defs/loop" }, root).kind).toBe("any");
    expect(nodeOf({ $ref: "#/$defs/a~1b" }, root).kind).toBe("boolean");
    expect(nodeOf({ $ref: "#here" }, root).kind).toBe("number");
    expect(nodeOf({ $ref: "https://elsewhere.example/schema" }, root).kind).toBe("any");
  });

  it("merges allOf", () => {
    const both = as(
      node({
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { a: { description: "D" }, b: {} } },
        ],
      }),
      "object",
    );
    expect(both.members.map(({ name, required }) => [name, required])).toEqual([
      ["a", true],
      ["b", false],
    ]);
    expect(node(both.members[0]?.schema)).toMatchObject({ kind: "text", description: "D" });
  });

  it("returns a JSON field for unknown schemas, and keeps members named __proto__", () => {
    for (const odd of [
      true,
      {},
      null,
      7,
      "x",
      [],
      { type: "widget" },
      { type: [] },
      { not: { type: "string" } },
      { enum: [] },
    ])
      expect(node(odd).kind).toBe("any");
    const hostile = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}',
    );
    expect(as(node(hostile), "object").members.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
    expect(as(node({ allOf: [hostile, hostile] }), "object").members.map(({ name }) => name)).toEqual([
      "__proto__",
      "constructor",
    ]);
  });
});
