import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { declarationOf } from "./declaration.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

function declared(inputSchema: unknown, more: object = {}): string {
  return declarationOf(readTool("s", toRaw({ name: "t", inputSchema, ...more })) as Tool);
}

const object = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
});

test("a declaration contains the input and output types and the descriptions", () => {
  const input = object(
    {
      path: { type: "string", description: "Where it is\n(*/ absolute)" },
      lines: { type: ["integer", "null"] },
      mode: { enum: ["r", "w", 1] },
      tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
      "odd-key": { type: "object" },
    },
    ["path"],
  );
  const outputSchema = object({ ok: { type: "boolean" } }, ["ok"]);
  expect(declared(input, { outputSchema })).toBe(
    'function t(args: { /** Where it is (* / absolute) */ path: string; lines?: number | null; mode?: "r" | "w" | 1; ' +
      'tags?: (string | number)[]; "odd-key"?: Record<string, unknown> }): Promise<{ ok: boolean }>',
  );
});

test("a declaration resolves local references and allOf, uses unknown for the rest, and turns odd names into identifiers", () => {
  const schema = {
    ...object({ who: { $ref: "#/$defs/a~1b" }, where: { $ref: "https://example.com/x" }, it: true }, ["who"]),
    $defs: {
      "a/b": { allOf: [object({ id: { type: "number" } }, ["id"]), { $ref: "#/$defs/named" }] },
      named: object({ n: { const: "x" } }),
    },
  };
  expect(declared(schema)).toBe(
    'function t(args: { who: { id: number } & { n?: "x" }; where?: unknown; it?: unknown }): Promise<unknown>',
  );
  expect(declared({ type: "object", additionalProperties: { type: "string" } })).toContain(
    "Record<string, string>",
  );
  expect(declared(object({}), { name: "get-it" })).toBe(
    "function /* get-it */ get_it(args: Record<string, unknown>): Promise<unknown>",
  );
  expect(declared(object({}), { name: "delete" })).toContain("/* delete */ delete_(");
  expect(declared(object({}), { name: "3d.view" })).toContain("/* 3d.view */ _3d_view(");
  expect(declared(object({}), { name: "*/ evil" })).toContain("/* * / evil */ ___evil(");
});

test("the declaration of a schema with many references to itself is at most 8,000 characters long", () => {
  const keys = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, { $ref: "#" }]));
  expect(declared({ type: "object", properties: keys }).length).toBeLessThanOrEqual(8_000);
});
