import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw } from "../kernel/raw.ts";
import { glanceOf } from "./glance.ts";

const raw = (json: string) => asRaw(Buffer.from(json));
/** In a schema the judge overlooks a property called `__proto__`; in arguments it does not. */
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

const seldom = <T>(one: T) => fc.constantFrom<(T | undefined)[]>(one, ...Array(7).fill(undefined));
const schema = fc
  .dictionary(fc.constantFrom(...NAMES), property, { noNullPrototype: true })
  .chain((properties) =>
    fc
      .record({
        required: fc.subarray(Object.keys(properties).slice(0, 2)),
        unknown: seldom("b"),
        additionalProperties: fc.constantFrom(undefined, true, false, { type: "string" }),
        anyOf: seldom([{ required: ["a"] }, { required: ["b"] }]),
        minProperties: seldom(2),
      })
      .map(({ required, unknown, ...more }) => {
        const all = unknown && !required.includes(unknown) ? [...required, unknown] : required;
        const given = Object.entries(more).filter(([, value]) => value !== undefined);
        return { type: "object", properties, required: all, ...Object.fromEntries(given) };
      }),
  );

/** As somebody may write them: twice, escaped, with spaces, and numbers of every form. */
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

test("what fits at a glance fits when it is looked at closely", { timeout: 120_000 }, () => {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    ownProperties: true,
  });
  let sure = 0;
  fc.assert(
    fc.property(schema, fc.array(args, { minLength: 1, maxLength: 8 }), (one, many) => {
      const glance = glanceOf(one);
      const validate = ajv.compile(one);
      for (const json of many) {
        if (!glance?.(raw(json))) continue;
        sure++;
        expect(validate(JSON.parse(json)), `${json} for ${JSON.stringify(one)}`).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
  // Or else it has shown nothing.
  expect(sure).toBeGreaterThan(200);
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
])("%s: %s", (json, fits) => {
  expect(glanceOf(FILE)?.(raw(json))).toBe(fits);
});

test.each([
  { type: "object", oneOf: [] },
  { type: "object", properties: { a: {} }, required: ["b"] },
  { type: "object", additionalProperties: { type: "string" } },
  { type: "object", patternProperties: {} },
  { type: ["object", "null"] },
  { $ref: "#/$defs/x", $defs: { x: { type: "object" } } },
  {},
])("%j must be looked at closely", (one) => {
  expect(glanceOf(one)).toBeUndefined();
});

const open = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}])),
});

test("what is not soon compared is looked at closely", () => {
  const members = (count: number) =>
    raw(`{${Array.from({ length: count }, (_, at) => `"é${at}":1`).join(",")}}`);
  const glance = glanceOf(open(64));
  expect(glance?.(members(64))).toBe(true);
  expect(glance?.(members(65))).toBe(false);
  expect(glance?.(raw(`{"é${"x".repeat(200)}":1}`))).toBe(true);
  expect(glance?.(raw(`{"é${"x".repeat(300)}":1}`))).toBe(false);
  expect(glanceOf(open(65))).toBeUndefined();
});
