import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { compileInputSchema, compileOutputSchema } from "./bounded-schema.ts";
import { checkArguments, prepareCheck } from "./check-arguments.ts";
import { declarationOf } from "./declaration.ts";
import { withOptionalDefaults } from "./optional-defaults.ts";
import { readTool } from "./read-tool.ts";
import { signatureOf } from "./signature.ts";
import type { Tool } from "./tool.ts";

async function problems(inputSchema: object, args: unknown): Promise<readonly string[] | undefined> {
  const tool = readTool("s", toRaw({ name: "t", inputSchema })) as Tool;
  await prepareCheck(tool);
  return checkArguments(tool, toRaw(args))?.map(({ text }) => text);
}

const withDefault = { type: "string", default: "css" };
const SCREENSHOT = {
  type: "object",
  properties: { type: { type: "string" }, scale: withDefault },
  required: ["type", "scale"],
};
const ref = { $ref: "#/$defs/S" };
const $defs = { S: SCREENSHOT };

test.each<[string, object, unknown, unknown]>([
  ["at the top", SCREENSHOT, { type: "png" }, { scale: "css" }],
  ["long arguments", SCREENSHOT, { type: "p".repeat(5_000) }, { scale: "p".repeat(5_000) }],
  ["in a nested object", { properties: { o: SCREENSHOT } }, { o: { type: "" } }, { o: {} }],
  [
    "in the items of a list",
    { properties: { o: { items: SCREENSHOT } } },
    { o: [{ type: "" }] },
    { o: [{}] },
  ],
  ["in a tuple", { properties: { o: { prefixItems: [SCREENSHOT] } } }, { o: [{ type: "" }] }, { o: [{}] }],
  ["in a map", { additionalProperties: SCREENSHOT }, { o: { type: "" } }, { o: {} }],
  ["behind a reference", { $defs, ...ref }, { type: "" }, {}],
  [
    "behind a reference in a list",
    { $defs, properties: { o: { items: ref } } },
    { o: [{ type: "" }] },
    { o: [{}] },
  ],
  ["in allOf", { allOf: [SCREENSHOT] }, { type: "" }, {}],
  ["in anyOf", { anyOf: [SCREENSHOT, { type: "null" }] }, { type: "" }, {}],
  ["in oneOf", { oneOf: [SCREENSHOT, { required: ["x"] }] }, { type: "" }, {}],
  [
    "in oneOf, where two branches now match",
    { oneOf: [SCREENSHOT, { required: ["type"] }] },
    { type: "" },
    {},
  ],
  [
    "default in a part of allOf",
    { allOf: [{ properties: { a: withDefault } }], required: ["a", "b"] },
    { b: 1 },
    {},
  ],
  [
    "requirement in a part of allOf",
    { properties: { a: withDefault }, allOf: [{ required: ["a", "b"] }] },
    { b: 1 },
    {},
  ],
  [
    "requirement in a choice",
    { properties: { a: withDefault }, anyOf: [{ required: ["a", "b"] }] },
    { b: 1 },
    {},
  ],
  [
    "default behind a reference",
    { $defs: { A: withDefault }, properties: { a: { $ref: "#/$defs/A" } }, required: ["a", "b"] },
    { b: 1 },
    {},
  ],
  ["a default of null", { properties: { a: { default: null } }, required: ["a", "b"] }, { b: 1 }, {}],
  [
    "by dependentRequired",
    { properties: { a: withDefault }, dependentRequired: { x: ["a", "b"] } },
    { x: 1, b: 1 },
    { x: 1 },
  ],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["under then", { if: true, then: SCREENSHOT }, { type: "" }, {}],
  [
    "a recursive schema",
    { ...SCREENSHOT, additionalProperties: { $ref: "#" } },
    { type: "", o: { type: "" } },
    { type: "", o: {} },
  ],
])("a missing property with a default is not an error: %s", async (_, schema, valid, invalid) => {
  expect(await problems(schema, valid)).toEqual([]);
  expect(await problems(schema, invalid)).not.toEqual([]);
});

test("a default makes only its own property optional, and its value is still checked", async () => {
  expect(await problems(SCREENSHOT, { type: "png", scale: 1 })).toEqual(["scale must be string"]);
  const choice = { anyOf: [SCREENSHOT, { properties: { scale: {}, x: {} }, required: ["x", "scale"] }] };
  expect(await problems(choice, { x: 1 })).not.toEqual([]);
  expect(await problems({ properties: { o: SCREENSHOT }, required: ["scale"] }, {})).not.toEqual([]);
});

test("results of a server are checked as its schema says", async () => {
  const check = await compileOutputSchema(toRaw(SCREENSHOT));
  expect(check?.(toRaw({ type: "png" }))).toHaveLength(1);
});

test("signatures and declarations show a property with a default as optional", () => {
  const tool = readTool("s", toRaw({ name: "shot", inputSchema: SCREENSHOT })) as Tool;
  expect(declarationOf(tool)).toBe("function shot(args: { type: string; scale?: string }): Promise<unknown>");
  expect(signatureOf("shot", toRaw(SCREENSHOT))).toBe("shot(type: string, scale?: string)");
});

const leaf = fc.constantFrom<object>(
  {},
  { type: "number" },
  { default: 1 },
  { type: "string", default: "x" },
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.record(
      {
        properties: fc.record({ a: tie("schema"), b: tie("schema") }, { requiredKeys: [] }),
        required: fc.subarray(["a", "b", "c"]),
        items: tie("schema"),
        allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        not: tie("schema"),
        if: tie("schema"),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: tie("schema"),
        else: tie("schema"),
        $ref: fc.constantFrom("#/$defs/A", "#/$defs/B"),
      },
      { requiredKeys: [] },
    ),
  ),
}));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(1, "x", null),
    fc.record({ a: tie("value"), b: tie("value"), c: tie("value") }, { requiredKeys: [] }),
    fc.array(tie("value"), { maxLength: 2 }),
  ),
}));
const root = fc
  .record({ A: schema, B: schema, top: schema })
  .map(({ A, B, top }) => ({ ...top, $defs: { A, B } }));
const reference = new Ajv2020({ strict: false, ownProperties: true, logger: false });

/** Undefined if the schema cannot be used, e.g. because of a reference that leads to itself. */
function accepts(written: object, data: unknown): boolean | undefined {
  try {
    return reference.compile(structuredClone(written))(data);
  } catch {
    return undefined;
  }
}

async function acceptsInput(written: object, data: unknown): Promise<boolean | undefined> {
  try {
    const check = await compileInputSchema(toRaw(written));
    return check?.(toRaw(data)).length === 0;
  } catch {
    return undefined;
  }
}

test("what the schema accepts is accepted, and without defaults nothing else", async () => {
  let [tried, compared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(root, value, async (written, data) => {
      tried += 1;
      const expected = accepts(written, data);
      if (expected === undefined) return;
      const accepted = await acceptsInput(written, data);
      if (accepted === undefined) return;
      compared += 1;
      if (expected) expect(accepted).toBe(true);
      if (!JSON.stringify(written).includes('"default"')) expect(accepted).toBe(expected);
    }),
    { numRuns: 150 },
  );
  expect(compared).toBeGreaterThan(tried / 3);
});

/** Objects and lists only, where "with defaults filled in" has one meaning. */
const { plain } = fc.letrec<{ plain: object }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie("plain").map((items) => ({ type: "array", items })),
    fc.record({
      type: fc.constant("object"),
      properties: fc.record({ a: tie("plain"), b: tie("plain") }),
      required: fc.subarray(["a", "b"]),
    }),
  ),
}));

/** The reference: required properties without a default must be there, and what is there must fit. */
function fits(part: object, data: unknown): boolean {
  const {
    type,
    properties = {},
    required = [],
    items,
  } = part as {
    type?: string;
    properties?: Record<string, object>;
    required?: string[];
    items?: object;
  };
  if (type === "array") return Array.isArray(data) && data.every((one) => fits(items ?? {}, one));
  if (type !== "object") return type === undefined || typeof data === type;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return false;
  const given = data as Record<string, unknown>;
  return (
    required.every((name) => Object.hasOwn(given, name) || "default" in (properties[name] ?? {})) &&
    Object.entries(properties).every(([name, one]) => !Object.hasOwn(given, name) || fits(one, given[name]))
  );
}

test("objects and lists are checked as if the server added its defaults", async () => {
  await fc.assert(
    fc.asyncProperty(plain, value, async (one, data) => {
      const written = { type: "object", properties: { v: one } };
      const found = await problems(written, { v: data });
      expect((found ?? []).length === 0).toBe(fits(one, data));
    }),
    { numRuns: 300 },
  );
});

test("a schema with very many parts and names is refused in bounded time", () => {
  const names = Array.from({ length: 20_000 }, (_, n) => `p${n}`);
  const properties = Object.fromEntries(names.map((name) => [name, { default: 1 }]));
  expect(() =>
    withOptionalDefaults({ properties, allOf: names.map((name) => ({ required: [name] })) }),
  ).toThrow();
  expect(withOptionalDefaults({ properties, required: [...names] })["required"]).toEqual([]);
});
