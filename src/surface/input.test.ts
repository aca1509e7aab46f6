import { expect, test } from "vitest";
import { MetaMcpError } from "../kernel/errors.ts";
import { LARGE_BYTES } from "../kernel/own-turn.ts";
import { toRaw } from "../kernel/raw.ts";
import { PROMPT, READ } from "./builtin/tools.ts";
import { type Fields, readInput } from "./input.ts";
import { CALL, DISCOVER, EXECUTE } from "./meta/tools.ts";
import { DESCRIBE_TOOL, EXECUTE_CODE, LIST_TOOLS, RUN_TOOL, SEARCH_TOOLS } from "./metatools/tools.ts";

const LONG = "x".repeat(LARGE_BYTES);

function problem(tool: { readonly name: string; readonly inputSchema: object }, given: object): string {
  try {
    readInput(tool as { name: string; inputSchema: Fields }, toRaw(given));
  } catch (error) {
    if (MetaMcpError.is(error)) return error.message;
    throw error;
  }
  return "";
}

test.each([
  [CALL, "server", { tool: "a" }],
  [CALL, "tool", { server: "a" }],
  [DISCOVER, "cursor", {}],
  [READ, "uri", {}],
  [READ, "server", { uri: "a" }],
  [PROMPT, "name", { server: "a" }],
  [RUN_TOOL, "tool_id", {}],
  [DESCRIBE_TOOL, "tool_id", { detail_level: "full" }],
  [SEARCH_TOOLS, "cursor", { query: "a" }],
  [LIST_TOOLS, "namespace", {}],
])("$0.name: $1 may not have the size of a document", (tool, key, others) => {
  expect(problem(tool, { ...others, [key]: LONG })).toBe(
    `${tool.name}: "${key}" is too long: it may have at most ${LARGE_BYTES} bytes.`,
  );
  expect(problem(tool, { ...others, [key]: LONG.slice(2) })).toBe("");
});

test("code, queries and arguments may", () => {
  expect(problem(EXECUTE, { code: LONG })).toBe("");
  expect(problem(EXECUTE_CODE, { language: "javascript", code: LONG })).toBe("");
  expect(problem(DISCOVER, { query: LONG })).toBe("");
  expect(problem(CALL, { server: "a", tool: "b", args: { uri: LONG } })).toBe("");
});

test("of a long unknown argument the beginning is shown", () => {
  expect(problem(CALL, { [LONG]: 1 })).toBe(
    `mcp_call: there is no argument "${"x".repeat(100)}"; known: server, tool, args.`,
  );
});
