import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw } from "../kernel/raw.ts";
import { quickCheckOf } from "./quick-check.ts";

const raw = (json: string) => asRaw(Buffer.from(json));
/** Without `__proto__`: Ajv ignores such a property in a schema, but not in arguments. */
const NAMES = ["a", "b", "ä", 'q"', "toString"];
const TYPES = ["string", "boolean", "null", "object", "array", "integer", "number"];

const property = fc.oneof(
  fc.constant(true),
  fc.constant({}),
  fc.record({ type: fc.constantFrom(...TYPES), description: fc.string() }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 3 }) }),
  fc.record({ type: fc.constant("string"), minLength: fc.constant(3) }),
  fc.record({ type: fc.constant("integer"), maximum: fc.constant(5) }),
  fc.record({ type: fc.constant("array"), items: fc.constant({ type: "string" }) }),
  fc.record({ type: fc.constant("object"), required: fc.constant(["x"]) }),
  fc.record({ enum: fc.constant(["x", 1]) }),
);

const rarely = <T>(one: T) => fc.constantFrom<(T | undefined)[]>(one, ...Array(7).fill(undefined));
const schema = fc
  .dictionary(fc.constantFrom(...NAMES), property, { noNullPrototype: true })
  .chain((properties) =>
    fc
      .record({
        required: fc.subarray(Object.keys(properties).slice(0, 2)),
        unknown: rarely("b"),
        additionalProperties: fc.constantFrom(undefined, true, false, { type: "string" }),
        anyOf: rarely([{ required: ["a"] }, { required: ["b"] }]),
        minProperties: rarely(2),
      })
      .map(({ required, unknown, ...more }) => {
        const all = unknown && !required.includes(unknown) ? [...required, unknown] : required;
        const given = Object.entries(more).filter(([, value]) => value !== undefined);
        return { type: "object", properties, required: all, ...Object.fromEntries(given) };
      }),
  );

/** Unusual but valid JSON: duplicate and escaped keys, white space, and all forms of numbers. */
const key = fc.oneof(
  fc.constantFrom(...NAMES, "else", "__proto__").map((name) => JSON.stringify(name)),
  fc.constantFrom('"\\u0061"', '"\\u00e4"', '"__pro\\u0074o__"'),
);
const value = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "7",
    "-12",
    "1.5",
    "1.0",
    "1e2",
    "1E400",
    "-1e-7",
    `${"9".repeat(400)}`,
    "0.1e1",
  ),
  fc.constantFrom(
    '""',
    '"x"',
    '"a\\"b"',
    '"{"',
    "true",
    "false",
    "null",
    "{}",
    '{"x":1}',
    "[]",
    "[1]",
    '["s"]',
  ),
);
const space = fc.constantFrom("", " ", "\t ");
const args = fc
  .array(fc.tuple(space, key, space, space, value, space), { maxLength: 5 })
  .map((all) => `{${all.map(([s, k, t, u, v, w]) => `${s}${k}${t}:${u}${v}${w}`).join(",")}}`);

test("arguments that pass the quick check pass Ajv", { timeout: 120_000 }, () => {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    ownProperties: true,
  });
  let accepted = 0;
  fc.assert(
    fc.property(schema, fc.array(args, { minLength: 1, maxLength: 8 }), (one, many) => {
      const quickCheck = quickCheckOf(one);
      const validate = ajv.compile(one);
      for (const json of many) {
        if (!quickCheck?.(raw(json))) continue;
        accepted++;
        expect(validate(JSON.parse(json)), `${json} for ${JSON.stringify(one)}`).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
  // Otherwise the property was hardly tested.
  expect(accepted).toBeGreaterThan(200);
});

const FILE = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    path: { type: "string", description: "Where to" },
    content: { type: "string" },
    mode: { type: ["integer", "null"], default: null },
    share: { type: "number" },
    lines: { type: "array", items: { type: "string" } },
  },
  required: ["path", "content"],
  additionalProperties: false,
};

test.each([
  ['{"path":"p","content":"c"}', true],
  ['{"content":"c","path":"p","mode":8,"share":0.5}', true],
  ['{"path":"p","content":"c","mode":null,"share":3}', true],
  ['{"path":"p"}', false],
  ['{"path":"p","path":"q"}', false],
  ['{"path":"p","content":1}', false],
  ['{"path":"p","content":"c","mode":1.5}', false],
  ['{"path":"p","content":"c","more":1}', false],
  ['{"path":"p","content":"c","lines":["l"]}', false],
  ["[]", false],
])("the quick check of %s returns %s", (json, fits) => {
  expect(quickCheckOf(FILE)?.(raw(json))).toBe(fits);
});

test.each([
  { type: "object", oneOf: [] },
  { type: "object", properties: { a: {} }, required: ["b"] },
  { type: "object", additionalProperties: { type: "string" } },
  { type: "object", patternProperties: {} },
  { type: ["object", "null"] },
  { $ref: "#/$defs/x", $defs: { x: { type: "object" } } },
  {},
])("schema %j has no quick check", (one) => {
  expect(quickCheckOf(one)).toBeUndefined();
});

const open = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}])),
});

test("many members, long keys and many properties need the full check", () => {
  const members = (count: number) =>
    raw(`{${Array.from({ length: count }, (_, at) => `"é${at}":1`).join(",")}}`);
  const quickCheck = quickCheckOf(open(64));
  expect(quickCheck?.(members(64))).toBe(true);
  expect(quickCheck?.(members(65))).toBe(false);
  expect(quickCheck?.(raw(`{"é${"x".repeat(200)}":1}`))).toBe(true);
  expect(quickCheck?.(raw(`{"é${"x".repeat(300)}":1}`))).toBe(false);
  expect(quickCheckOf(open(65))).toBeUndefined();
});
