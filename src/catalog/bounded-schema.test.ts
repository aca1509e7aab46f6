import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { compileInputSchema } from "./bounded-schema.ts";

async function problems(schema: object, value: unknown): Promise<number | "cannot be told"> {
  try {
    const check = await compileInputSchema(toRaw(schema));
    return check?.(toRaw(value)).length ?? 0;
  } catch {
    return "cannot be told";
  }
}

/** Each definition refers to the next one twice. */
function doubling(levels: number, word: string): object {
  const twice = (to: string) => ({ [word]: [{ $ref: to }, { $ref: to }] });
  const names = Array.from({ length: levels }, (_, n) => [`d${n}`, twice(`#/$defs/d${n + 1}`)]);
  return { $defs: { ...Object.fromEntries(names), [`d${levels}`]: { type: "object" } }, $ref: "#/$defs/d0" };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
const nested = (depth: number): object => (depth === 0 ? {} : { x: nested(depth - 1) });

test.each<[string, object, unknown, number | "cannot be told"]>([
  ["references that double at each level", doubling(40, "allOf"), {}, "cannot be told"],
  ["choices that double at each level", doubling(40, "oneOf"), {}, "cannot be told"],
  ["references that double at three levels", doubling(3, "allOf"), {}, 0],
  [
    "circular references",
    { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
    {},
    "cannot be told",
  ],
  [
    "a recursive schema that is checked twice at each level",
    { properties: { x: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } },
    nested(40),
    "cannot be told",
  ],
  ["a recursive schema", { properties: { x: { $ref: "#" } }, type: "object" }, nested(40), 0],
  [
    "uniqueItems on a long list",
    { items: { type: "object" }, uniqueItems: true },
    numbers(40_000),
    "cannot be told",
  ],
  ["uniqueItems on a short list", { uniqueItems: true }, [1, 2, 1], 1],
  ["more values than the limit", { type: "array" }, Array(200_000).fill(1), "cannot be told"],
  ["one long text", { type: "string" }, "x".repeat(1_000_000), 0],
  [
    "a pattern on many texts",
    { items: { pattern: "\\w*x\\w*y" } },
    Array(1_000).fill("x".repeat(1_000)),
    "cannot be told",
  ],
  [
    "a large schema",
    {
      properties: Object.fromEntries(numbers(15_000).map(({ n }) => [`p${n}`, { type: ["string", "null"] }])),
    },
    {},
    "cannot be told",
  ],
])("the check of %s ends", async (_what, schema, value, expected) => {
  expect(await problems(schema, value)).toBe(expected);
});

test("an interrupted check does not affect the next one", async () => {
  const heavy = { items: { type: "object" }, uniqueItems: true };
  for (const _ of [1, 2]) {
    expect(await problems(heavy, numbers(40_000))).toBe("cannot be told");
    expect(await problems(heavy, numbers(3))).toBe(0);
    expect(await problems({ type: "object" }, [])).toBe(1);
  }
});
