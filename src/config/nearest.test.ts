import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const KEYS = ["command", "args", "env", "cwd", "url", "headers", "timeoutMs", "deadlineMs", "lifecycle"];

test.each([
  ["comand", "command"],
  ["Command", "command"],
  ["timeout_ms", "timeoutMs"],
  ["agrs", "args"],
  ["header", "headers"],
  ["lifecyle", "lifecycle"],
])("takes %s for %s", (typed, meant) => {
  expect(nearest(typed, KEYS)).toBe(meant);
});

test.each(["autoApprove", "x", "foo", "description"])("takes %s for nothing", (typed) => {
  expect(nearest(typed, KEYS)).toBeUndefined();
});
