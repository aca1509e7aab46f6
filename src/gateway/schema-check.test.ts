import { expect, test } from "vitest";
import { timeout } from "../middleware/layers/timeout.ts";
import { loadValidator } from "./schema-check.ts";

test("problems are described as sentences, for any description in the schema", async () => {
  const validate = await loadValidator();
  const list = { type: "array", minItems: 1, description: "only tools of these tiers" };
  expect(validate(list, [])).toEqual([{ path: "", message: "must have 1 at least" }]);
  expect(validate({ type: "string", description: "a text without NUL characters" }, null)).toEqual([
    { path: "", message: "is null: leave the field out" },
  ]);
  const map = { type: "object", minProperties: 2, description: "what a value must be" };
  expect(validate(map, { one: 1 })).toEqual([{ path: "", message: "must have 2 at least" }]);
  expect(validate({ type: "object", ...timeout.schema }, { timeoutMs: 0 })).toEqual([
    {
      path: "/timeoutMs",
      message: 'must be longest time without an answer or progress: milliseconds, or a time such as "60s"',
    },
  ]);
});

test.each([
  { type: "strng" },
  { type: "object", properties: { word: { type: "string", minLength: "one" } } },
  { type: "object", required: "word" },
  { enum: "one" },
  { pattern: "(" },
  { propertys: {} },
])("a schema that is none is refused: %j", async (schema) => {
  const validate = await loadValidator();
  expect(() => validate(schema, {})).toThrow();
});
