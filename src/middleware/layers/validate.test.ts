import { expect, test } from "vitest";
import { callOf, raw, type TestCall, testPipeline } from "../layer.fixture.ts";

const definition = {
  name: "echo",
  inputSchema: {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
};
const good = raw('{"content":[],"structuredContent":{"ok":true}}');

async function judged(options: object, wanted: TestCall, result = good): Promise<string> {
  const { outcome } = await testPipeline([{ use: "validate", ...options }], async () => result);
  const text = await outcome({ definition, args: { n: 1 }, ...wanted });
  return text.startsWith("{") ? "passed" : text;
}

test.each<[object, TestCall, string]>([
  [{}, {}, "passed"],
  [{}, { args: { n: "1" } }, "validation_input"],
  [{}, { args: {} }, "validation_input"],
  [{}, { args: { n: 1, more: 1 } }, "validation_input"],
  [{ input: false }, { args: {} }, "passed"],
  [{}, { definition: { name: "echo", inputSchema: { type: "object" } } }, "passed"],
  [{}, { definition: { name: "echo", inputSchema: { type: "nothing" } } }, "validation_input"],
])("with %j arguments of %j: %s", async (options, wanted, expected) => {
  expect(await judged(options, wanted)).toBe(expected);
});

test.each<[object, string, string]>([
  [{}, '{"content":[],"structuredContent":{"ok":1}}', "validation_output"],
  [{}, '{"content":[]}', "validation_output"],
  [{}, '{"content":[],"isError":true}', "passed"],
  [{ output: false }, '{"content":[]}', "passed"],
])("with %j the result %s: %s", async (options, result, expected) => {
  expect(await judged(options, {}, raw(result))).toBe(expected);
});

test("a call without a known schema or with invalid arguments is refused and not sent", async () => {
  const { call, seen } = await testPipeline([{ use: "validate" }]);
  const { facts, ...unknown } = callOf({ args: {} });
  await expect(call({ ...unknown, facts: facts && { ...facts, definition: undefined } })).rejects.toThrow(
    /the schema of the tool is not known/,
  );
  await expect(call({ definition, args: { n: "x" } })).rejects.toThrow(/do not match one:echo/);
  expect(seen).toHaveLength(0);
});

test("prompts are not checked", async () => {
  expect(await judged({}, { args: {}, more: { method: "prompts/get" } })).toBe("passed");
});
