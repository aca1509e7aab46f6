import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { checkArguments, prepareCheck } from "./check-arguments.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

function tool(inputSchema: object): Tool {
  return readTool("s", toRaw({ name: "t", inputSchema })) as Tool;
}

async function problems(inputSchema: object, args: unknown): Promise<readonly string[] | undefined> {
  const one = tool(inputSchema);
  await prepareCheck(one);
  return checkArguments(one, toRaw(args))?.map(({ text }) => text);
}

const needs = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "number" } },
  required: [name],
});

test("checkArguments describes each problem, and returns undefined before the schema is prepared", async () => {
  const one = tool(needs("n"));
  expect(checkArguments(one, toRaw({}))).toBeUndefined();
  // Concurrent callers share one compilation.
  expect(prepareCheck(one)).toBe(prepareCheck(one));
  await prepareCheck(one);
  expect(checkArguments(one, toRaw({}))).toEqual([
    { argument: "n", text: "the arguments must have required property 'n'" },
  ]);
  expect(checkArguments(one, toRaw({ n: "x" }))).toEqual([{ argument: "n", text: "n must be number" }]);
  expect(checkArguments(one, toRaw({ n: 1 }))).toEqual([]);
});

test("schemas with the same $id do not affect each other", async () => {
  const $id = "https://example.com/same";
  const named = (name: string) => ({ $id, ...needs(name) });
  const inner = (type: string) => ({
    type: "object",
    properties: { v: { $ref: "https://example.com/inner" } },
    $defs: { inner: { $id: "https://example.com/inner", type } },
  });
  expect(await problems(named("a"), { a: 1 })).toEqual([]);
  expect(await problems(named("b"), { a: 1 })).toHaveLength(1);
  expect(await problems(inner("string"), { v: "x" })).toEqual([]);
  expect(await problems(inner("number"), { v: "x" })).toEqual(["v must be number"]);
  // A schema cannot use an $id that another schema defined.
  const foreign = { properties: { v: { $ref: "https://example.com/inner" } }, $defs: { inner: needs("n") } };
  expect(await problems(foreign, { v: {} })).toEqual([]);
});

test("$schema selects draft-07; the default is 2020-12", async () => {
  const draft = "http://json-schema.org/draft-07/schema#";
  const tuple = { type: "object", properties: { v: { items: [{ type: "number" }] } } };
  expect(await problems({ $schema: draft, ...tuple }, { v: ["x"] })).toEqual(["v.0 must be number"]);
  const latest = { type: "object", properties: { v: { prefixItems: [{ type: "number" }] } } };
  expect(await problems(latest, { v: ["x"] })).toEqual(["v.0 must be number"]);
});

test("a schema that cannot be compiled accepts all arguments and does not affect later schemas", async () => {
  for (const broken of [{ type: "nonsense" }, { required: "a" }, { $ref: "#/nowhere" }, { properties: 3 }])
    expect(await problems(broken, { a: 1 })).toEqual([]);
  expect(await problems(needs("n"), {})).toHaveLength(1);
});

test("values at open places are not checked, all others are", async () => {
  const check = async (
    schema: object,
    args: unknown,
    ...open: string[]
  ): Promise<readonly string[] | undefined> => {
    const one = tool(schema);
    await prepareCheck(one);
    return checkArguments(one, toRaw(args), open)?.map(({ text }) => text);
  };
  const two = {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  };
  expect(await check(two, { a: null, b: 1 }, "/a")).toEqual([]);
  expect(await check(two, { a: null, b: "x" }, "/a")).toEqual(["b must be number"]);
  expect(await check(two, { a: null }, "/a")).toEqual(["the arguments must have required property 'b'"]);
  expect(await check({ ...two, additionalProperties: false }, { a: 1, b: 1, c: null }, "/c")).toEqual([
    'the arguments must not have "c"',
  ]);
  const choice = { anyOf: [{ properties: { a: { type: "number" } } }, { required: ["b"] }] };
  expect(await check(choice, { a: null }, "/a")).toEqual([]);
  expect(await check({ ...choice, required: ["c"] }, { a: null }, "/a")).toEqual([
    "the arguments must have required property 'c'",
  ]);
  const deep = { properties: { l: { items: { type: "object", properties: { x: { type: "string" } } } } } };
  expect(await check(deep, { l: [{ x: null }, { x: 1 }] }, "/l/0/x")).toEqual(["l.1.x must be string"]);
});

test("a problem names the argument it is about, also below it and with a slash in its name", async () => {
  const one = tool({ type: "object", properties: { "a/b": { items: { required: ["c"] } } } });
  await prepareCheck(one);
  const [problem] = checkArguments(one, toRaw({ "a/b": [{}] })) ?? [];
  expect(problem?.argument).toBe("a/b");
  const closed = tool({ type: "object", properties: {}, additionalProperties: false });
  await prepareCheck(closed);
  expect(checkArguments(closed, toRaw({ x: 1 }))).toEqual([
    { argument: undefined, text: 'the arguments must not have "x"' },
  ]);
});
