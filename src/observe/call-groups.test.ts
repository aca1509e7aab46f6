import { expect, test } from "vitest";
import { CallGroups } from "./call-groups.ts";
import type { CallRow } from "./call-schema.ts";

const ECHO = {
  endpoint: { uuid: "e", name: "team" },
  server: { uuid: "s", name: "fix" },
  tool: "echo",
} as CallRow;

const groups = () => new CallGroups({ hasTool: (_, tool) => tool !== "made up" });

test("calls of the same tool have the same group until a name changes", () => {
  const all = groups();
  const first = all.of({ ...ECHO, endpoint: { ...ECHO.endpoint }, server: { ...ECHO.server } });
  expect(all.of(ECHO)).toBe(first);
  const renamed = all.of({ ...ECHO, server: { uuid: "s", name: "fixed" } });
  expect(renamed).not.toBe(first);
  expect(renamed.server.name).toBe("fixed");
  expect(all.of({ ...ECHO, endpoint: { uuid: "e", name: "group" } }).endpoint.name).toBe("group");
});

test("calls with unknown names share one group per endpoint", () => {
  const all = groups();
  const other = all.of({ ...ECHO, tool: "made up" });
  expect(other).toMatchObject({ endpoint: { name: "team" }, server: { name: "other" }, tool: "other" });
  expect(other.server.uuid).toBeUndefined();
  expect(all.of({ ...ECHO, code: "tool_not_found" })).toBe(other);
  // A tool that exists and is hidden from its caller is no unknown name.
  expect(all.of({ ...ECHO, code: "tool_not_found", by: "namespace" })).toMatchObject({
    server: { name: "fix" },
    tool: "echo",
  });
  expect(all.of({ ...ECHO, server: { name: "nowhere" } })).toBe(other);
  expect(all.of({ ...ECHO, server: { name: "metamcp" } })).toMatchObject({ tool: "echo" });
});

test("a call that failed belongs to its server, also if that never listed the tool", () => {
  const failed = groups().of({ ...ECHO, tool: "made up", outcome: "error" });
  expect(failed).toMatchObject({ server: { name: "fix" }, tool: "other" });
  const made = groups().of({ ...ECHO, tool: "made up", outcome: "error", code: "tool_not_found" });
  expect(made.server.name).toBe("other");
});

test("prompts and resources are grouped by method", () => {
  const all = groups();
  const method = "resources/read";
  const read = all.of({ ...ECHO, method, tool: "file:///a" });
  expect(read).toMatchObject({ server: { name: "fix" }, tool: method, method });
  expect(all.of({ ...ECHO, method, tool: "file:///b" })).toBe(read);
  expect(all.of({ ...ECHO, tool: method }).method).toBeUndefined();
  expect(all.of({ ...ECHO, method, server: { name: "nowhere" } }).server.name).toBe("other");
});

test("the number of cached groups is limited", () => {
  const all = groups();
  const first = all.of(ECHO);
  for (let i = 0; i < 5_000; i++) all.of({ ...ECHO, tool: `tool ${i}` });
  expect(all.of(ECHO)).not.toBe(first);
  expect(all.of(ECHO)).toEqual(first);
});
