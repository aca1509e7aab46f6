import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { paramHeaders, valueAt } from "./param-headers.ts";

const tool = (inputSchema: unknown) => toRaw({ name: "t", inputSchema });
const text = (header: unknown, more: object = {}) => ({ type: "string", "x-mcp-header": header, ...more });

test("parameters are found along properties, however deep", () => {
  const inputSchema = {
    properties: {
      region: text("Region"),
      plain: { type: "string" },
      inner: { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Id" } } },
      // A parameter of that name, and an example of one.
      "x-mcp-header": {
        type: "string",
        default: { "x-mcp-header": "no" },
        examples: [{ "x-mcp-header": 1 }],
      },
    },
  };
  expect(paramHeaders(tool(inputSchema))).toEqual([
    { header: "mcp-param-region", path: ["region"] },
    { header: "mcp-param-id", path: ["inner", "id"] },
  ]);
  expect(paramHeaders(tool({ properties: { a: { type: "string" } } }))).toEqual([]);
});

test.each([
  ["empty", { properties: { a: text("") } }],
  ["no name", { properties: { a: text("a b") } }],
  ["a line break", { properties: { a: text("a\r\nb") } }],
  ["no text", { properties: { a: text(1) } }],
  ["twice", { properties: { a: text("X"), b: text("x") } }],
  ["a number", { properties: { a: text("X", { type: "number" }) } }],
  ["no type", { properties: { a: { "x-mcp-header": "X" } } }],
  ["in a list", { properties: { a: { type: "array", items: text("X") } } }],
  ["in a choice", { anyOf: [{ properties: { a: text("X") } }] }],
  ["behind a reference", { $defs: { a: text("X") } }],
  ["at the root", { type: "string", "x-mcp-header": "X" }],
])("refused: %s", (_, inputSchema) => {
  expect(paramHeaders(tool(inputSchema))).toHaveProperty("problem");
});

test("values are written as texts; what is none is left out", () => {
  const args = toRaw({ a: "x", b: -7, c: false, d: null, e: 1.5, f: { g: "deep" }, h: 2 ** 53 });
  expect(["a", "b", "c", "d", "e", "f", "h", "missing"].map((name) => valueAt(args, [name]))).toEqual([
    "x",
    "-7",
    "false",
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(valueAt(args, ["f", "g"])).toBe("deep");
  expect(valueAt(toRaw("text"), ["a"])).toBeUndefined();
  expect(valueAt(args, ["toString"])).toBeUndefined();
});
