import { expect, test } from "vitest";
import { readTool } from "../catalog/read-tool.ts";
import type { Tool } from "../catalog/tool.ts";
import { asRaw, fromRaw } from "../kernel/raw.ts";
import { failedResult } from "./failure.ts";
import { invalidArguments } from "./invalid-arguments.ts";

const many = Array.from(
  { length: 60 },
  (_, n) => `"p${n}":{"type":"string","description":"${"Long. ".repeat(15)}"}`,
);
const schema = `{"type":"object","properties":{"big":{"type":"integer","maximum":18446744073709551615},"at":{"$ref":"#/$defs/Point"},${many.join(",")}},"required":["big"],"$defs":{"Point":{"type":"array"},"Other":{}}}`;
const tool = readTool("s", asRaw(Buffer.from(`{"name":"t","inputSchema":${schema}}`))) as Tool;

const about = (argument: string | undefined, text: string) => ({ argument, text });

test("an error for one wrong argument contains its part of the schema, once as text and once as JSON", () => {
  const raw = failedResult(invalidArguments(tool, [about("big", "big must be integer")]));
  expect(raw.length).toBeLessThan(1_500);
  const { content, structuredContent } = fromRaw(raw) as {
    content: [{ text: string }];
    structuredContent: { error: { message: string; details: object } };
  };
  const { error } = structuredContent;
  expect(error.message).toBe("The arguments do not match s:t: big must be integer.");
  expect(raw.toString()).toContain('"properties":{"big":{"type":"integer","maximum":18446744073709551615}}');
  expect(error.details).toMatchObject({
    problems: ["big must be integer"],
    inputSchema: { required: ["big"] },
  });
  const [{ text }] = content;
  expect(text).toMatch(
    /^validation_input: The arguments do not match s:t: big must be integer\. Signature: t\(big: int, .*…\)\./,
  );
  expect(text).toContain('big: {"type":"integer","maximum":18446744073709551615}');
  expect(text).toMatch(/Correct the arguments and call again\.$/);
  expect(text).not.toContain(JSON.stringify(error.details));
});

test("the part of the schema includes the definitions it refers to", () => {
  const { details } = invalidArguments(tool, [about("at", "at.0 must be number")]).context;
  expect(details).toMatchObject({
    inputSchema: { properties: { at: {} }, $defs: { Point: { type: "array" } } },
  });
  expect(JSON.stringify(details)).not.toContain("Other");
});

test("an error for many wrong arguments stays small", () => {
  const problems = Array.from({ length: 10 }, (_, n) => about(`p${n}`, `p${n} must be string`));
  const raw = failedResult(invalidArguments(tool, problems));
  expect(raw.length).toBeLessThan(5_000);
  expect(
    invalidArguments(tool, [about(undefined, 'the arguments must not have "x"')]).context.details,
  ).toEqual({
    problems: ['the arguments must not have "x"'],
  });
});
