import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, toRaw } from "../kernel/raw.ts";
import { signatureOf, signatureWithResult } from "./signature.ts";

const object = (properties: unknown, required: unknown = []) =>
  toRaw({ type: "object", properties, required });

test("a signature lists inputs with their types, the required ones first", () => {
  const schema = object({ times: { type: "integer" }, message: { type: "string" } }, ["message"]);
  expect(signatureOf("echo", schema)).toBe("echo(message: string, times?: int)");
  expect(signatureOf("now", object({}))).toBe("now()");
});

test("a signature shows choices, lists, nested objects, unions and references", () => {
  const schema = toRaw({
    type: "object",
    $defs: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
    properties: {
      mode: { enum: ["fast", "slow"] },
      tags: { type: "array", items: { type: "string" } },
      at: { $ref: "#/$defs/point" },
      either: { anyOf: [{ type: "string" }, { type: "null" }] },
      both: { type: ["boolean", "number"] },
    },
    required: ["mode", "tags", "at", "either", "both"],
  });
  expect(signatureOf("go", schema)).toBe(
    'go(mode: "fast" | "slow", tags: string[], at: {x: number}, either: string | null, both: bool | number)',
  );
});

test("inputs beyond the length limit are replaced by an ellipsis", () => {
  const many = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`parameter${i}`, { type: "string" }]),
  );
  const signature = signatureOf("big", object(many), 100);
  expect(signature.length).toBeLessThanOrEqual(100);
  expect(signature).toMatch(/, …\)$/);
});

test("required inputs come first even if many optional ones precede them in the schema", () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, { type: "string" }]));
  const nested = { type: "object", properties: { ...many, key: { type: "int" } }, required: ["key"] };
  const schema = object({ ...many, must: { type: "string" }, deep: nested }, ["deep", "must"]);
  expect(signatureOf("t", schema, 120)).toBe(
    "t(must: string, deep: {key: any, p0?: string, p1?: string, p2?: string, p3?: string, p4?: string, …}, p0?: string, …)",
  );
});

test("circular, remote, broken, wide and odd schemas give a bounded signature", () => {
  const circular = toRaw({ $defs: { a: { $ref: "#/$defs/a" } }, properties: { x: { $ref: "#/$defs/a" } } });
  expect(signatureOf("t", circular)).toBe("t(x?: any)");
  expect(signatureOf("t", object({ x: { $ref: "http://example.com/x" } }))).toBe("t(x?: any)");
  expect(signatureOf("t", asRaw(Buffer.from('{"properties":{"__proto__":{"type":"string"}}}')))).toBe(
    "t(__proto__?: string)",
  );
  expect(signatureOf("t", asRaw(Buffer.from("{broken")))).toBe("t()");
  const wide = (of: unknown): object =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, of]));
  const self = { type: "object", properties: wide({ $ref: "#/$defs/self" }) };
  const fan = toRaw({ $defs: { self }, properties: wide({ properties: wide({ $ref: "#/$defs/self" }) }) });
  expect(signatureOf("t", fan).length).toBeLessThanOrEqual(240);
  expect(signatureOf("t", object({ "a b\n": { type: "string" } }))).toBe('t("a b\\n"?: string)');
});

test("the length of a signature is bounded for any JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (properties, required) => {
      expect(signatureOf("t", object(properties, required), 120).length).toBeLessThanOrEqual(120);
    }),
  );
});

test("a declared result follows the inputs if it says something and fits", () => {
  const shown = (outputSchema: object) =>
    signatureWithResult({
      name: "now",
      inputSchema: toRaw({ type: "object" }),
      definition: toRaw({ name: "now", outputSchema }),
    });
  const time = { type: "string" };
  expect(shown({ type: "object", properties: { time, zone: time }, required: ["time"] })).toBe(
    "now(): {time: string, zone?: string}",
  );
  expect(shown({ type: "object" })).toBe("now()");
  const long = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`p${"x".repeat(60)}${n}`, time]));
  expect(shown({ type: "object", properties: long })).toBe("now()");
});
