import fc from "fast-check";
import { expect, test } from "vitest";
import { readTool } from "../catalog/read-tool.ts";
import type { Tool } from "../catalog/tool.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { describeTools } from "./document.ts";
import { argumentsIn, scalarArguments } from "./query-arguments.ts";
import { movedSchema } from "./schema-references.ts";

function toolWith(inputSchema: unknown, annotations = { readOnlyHint: true }, name = "look"): Tool {
  return readTool("fix", toRaw({ name, inputSchema, annotations })) as Tool;
}

const SCALARS = {
  text: { type: "string" },
  count: { type: "integer" },
  ratio: { type: ["number", "null"] },
  on: { anyOf: [{ type: "boolean" }, { type: "null" }] },
  level: { enum: ["low", "high"] },
};

test("a query is converted to arguments by the types of the schema", () => {
  const scalars = scalarArguments(toolWith({ type: "object", properties: SCALARS }));
  fc.assert(
    fc.property(
      fc.record(
        {
          text: fc.string({ unit: "grapheme" }),
          count: fc.integer(),
          ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
          on: fc.boolean(),
          level: fc.constantFrom("low", "high"),
        },
        { requiredKeys: [] },
      ),
      (args) => {
        const query = Object.entries(args).map(([name, value]) => [name, JSON.stringify(value)] as const);
        const shown = query.map(
          ([name, value]) => [name, value.startsWith('"') ? String(JSON.parse(value)) : value] as const,
        );
        expect(fromRaw(argumentsIn(shown, scalars ?? new Map()))).toEqual(JSON.parse(JSON.stringify(args)));
      },
    ),
  );
});

test("numbers keep their digits, and strings that look like numbers stay strings", () => {
  const scalars = scalarArguments(toolWith({ type: "object", properties: SCALARS })) ?? new Map();
  const query = [
    ["count", "12345678901234567890"],
    ["text", "12"],
    ["ratio", "null"],
    ["other", "true"],
  ] as const;
  expect(argumentsIn(query, scalars).toString()).toBe(
    '{"count":12345678901234567890,"text":"12","ratio":null,"other":"true"}',
  );
  expect(() =>
    argumentsIn(
      [
        ["a", "1"],
        ["a", "2"],
      ],
      scalars,
    ),
  ).toThrow(/twice/);
});

test.each([
  [{ list: { type: "array" } }, true],
  [{ any: {} }, true],
  [{ deep: { anyOf: [{ type: "string" }, { type: "object" }] } }, true],
  [{ other: { $ref: "#/$defs/x" } }, true],
  [SCALARS, false],
])("a read-only tool with arguments %j cannot be called with GET: %s", (properties, refused) => {
  expect(scalarArguments(toolWith({ type: "object", properties })) === undefined).toBe(refused);
  expect(scalarArguments(toolWith({ type: "object", properties }, { readOnlyHint: false }))).toBeUndefined();
});

test("moved schemas have adjusted references, but unchanged data and property names", () => {
  const schema = {
    $defs: { node: { properties: { next: { $ref: "#/$defs/node" }, up: { $ref: "#" } } } },
    properties: { $ref: { type: "string" }, node: { $ref: "#/$defs/node" } },
    default: { $ref: "#/data" },
  };
  const moved = movedSchema(schema, "#/components/schemas/x");
  expect(moved).toEqual({
    $defs: {
      node: {
        properties: {
          next: { $ref: "#/components/schemas/x/$defs/node" },
          up: { $ref: "#/components/schemas/x" },
        },
      },
    },
    properties: { $ref: { type: "string" }, node: { $ref: "#/components/schemas/x/$defs/node" } },
    default: { $ref: "#/data" },
  });
  const named = { $id: "urn:x", $ref: "#/$defs/y" };
  expect(movedSchema(named, "#/z")).toBe(named);
});

test("each tool is one operation, under a name that model APIs accept", () => {
  const names = ["fix__look", "get fix__look", "fix.look!", "fix_look_"];
  const tools = names.map((name) => [name, toolWith({ type: "object" }, undefined, name)] as const);
  const access = { public: true, keys: true, oauth: true, queryKey: false };
  const { paths } = describeTools(tools, { name: "x", description: "", url: "/", access }) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  expect(operations.map(([method, { operationId }]) => [method, operationId])).toEqual([
    ["post", "fix__look"],
    ["post", "get_fix__look"],
    ["post", "fix_look_"],
    ["post", "fix_look__2"],
  ]);
});

test("a tool whose name cannot be part of a URL is omitted", () => {
  const names = ["look", "\uD800x", "\uD83D\uDE00"];
  const tools = names.map((name) => [name, toolWith({}, undefined, name)] as const);
  const access = { public: true, keys: true, oauth: true, queryKey: false };
  const { paths } = describeTools(tools, { name: "x", description: "", url: "/", access });
  expect(Object.keys(paths as object)).toEqual(["/look", "/%F0%9F%98%80"]);
});

test("tools whose names differ only in invalid characters get separate schemas", () => {
  const tools = ["a b", "a_b", "a/b"].map(
    (name) => [name, toolWith({ title: name }, undefined, name)] as const,
  );
  const access = { public: true, keys: true, oauth: true, queryKey: false };
  const about = { name: "x", description: "", url: "/", access };
  const { paths, components } = describeTools(tools, about) as {
    paths: Record<string, unknown>;
    components: { schemas: Record<string, { title?: string }> };
  };
  expect(Object.keys(paths)).toEqual(["/a%20b", "/a_b", "/a%2Fb"]);
  const titles = Object.values(components.schemas).map(({ title }) => title);
  expect(titles).toEqual(expect.arrayContaining(["a b", "a_b", "a/b"]));
});
