import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { paramHeaders, valueAt } from "./param-headers.ts";

const tool = (inputSchema: unknown) => toRaw({ name: "t", inputSchema });
const text = (header: unknown, more: object = {}) => ({ type: "string", "x-mcp-header": header, ...more });

test("paramHeaders finds declarations at properties of any depth", () => {
  const inputSchema = {
    properties: {
      region: text("Region"),
      plain: { type: "string" },
      inner: { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Id" } } },
      // A parameter with that name, and examples that contain that key.
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
  ["an empty name", { properties: { a: text("") } }],
  ["a name with a space", { properties: { a: text("a b") } }],
  ["a name with a line break", { properties: { a: text("a\r\nb") } }],
  ["a name that is no string", { properties: { a: text(1) } }],
  ["the same name twice", { properties: { a: text("X"), b: text("x") } }],
  ["a property of type number", { properties: { a: text("X", { type: "number" }) } }],
  ["a property without a type", { properties: { a: { "x-mcp-header": "X" } } }],
  ["a declaration in the items of an array", { properties: { a: { type: "array", items: text("X") } } }],
  ["a declaration in anyOf", { anyOf: [{ properties: { a: text("X") } }] }],
  ["a declaration in $defs", { $defs: { a: text("X") } }],
  ["a declaration at the root", { type: "string", "x-mcp-header": "X" }],
])("paramHeaders reports a problem for %s", (_, inputSchema) => {
  expect(paramHeaders(tool(inputSchema))).toHaveProperty("problem");
});

test("valueAt returns strings, integers and booleans as text, and undefined for other values", () => {
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
