import { expect, test } from "vitest";
import { callOf, type TestCall, testPipeline } from "../layer.fixture.ts";

const READ = { readOnlyHint: true };

test.each<[object, TestCall, boolean]>([
  [{ allow: ["one:*"] }, { tool: "one:echo" }, true],
  [{ allow: ["one:*"] }, { tool: "two:echo" }, false],
  [{ allow: [] }, { tool: "one:echo" }, false],
  [{ deny: ["*:drop*"] }, { tool: "one:drop_table" }, false],
  [{ deny: ["*:drop*"] }, { tool: "one:echo" }, true],
  [{ allow: ["*"], deny: ["one:echo"] }, { tool: "one:echo" }, false],
  [{ readOnly: true }, { annotations: READ }, true],
  [{ readOnly: true }, {}, false],
  [{ readOnly: true }, { annotations: { readOnlyHint: false } }, false],
  [{ readOnly: false }, {}, true],
  [{ destructive: false }, { annotations: { destructiveHint: true } }, false],
  [{ destructive: false }, { annotations: { ...READ, destructiveHint: true } }, false],
  [{ destructive: false }, { annotations: { destructiveHint: false } }, true],
  [{ destructive: false }, {}, true],
  [{ destructive: true }, { annotations: { destructiveHint: true } }, true],
  [{ labels: ["safe", "tested"] }, { labels: ["tested"] }, true],
  [{ labels: ["safe"] }, { labels: [] }, false],
  [{ labels: [] }, { labels: ["safe"] }, false],
  [{}, {}, true],
])("with %j the tool %j is listed and callable: %s", async (options, wanted, passes) => {
  const { outcome, layers, seen } = await testPipeline([{ use: "filter", ...options }]);
  const call = callOf(wanted);
  const hidden = call.facts && layers[0]?.list?.hides(call.facts, call.origin.principal);
  expect(hidden === undefined).toBe(passes);
  expect(await outcome(call)).toMatch(passes ? /done/ : /^tool_not_found$/);
  expect(seen).toHaveLength(passes ? 1 : 0);
});

test("resources are judged by the labels of their server only", async () => {
  const { outcome } = await testPipeline([
    { use: "filter", allow: ["one:echo"], readOnly: true, labels: ["safe"] },
  ]);
  const reading = (labels: readonly string[]) => ({
    tool: "one:",
    labels,
    more: { method: "resources/read" },
  });
  expect(await outcome(reading(["safe"]))).toMatch(/done/);
  expect(await outcome(reading([]))).toBe("tool_not_found");
});

test("a call without facts is refused, and the error does not name the tool", async () => {
  const { call } = await testPipeline([{ use: "filter", deny: ["x"] }]);
  await expect(call(callOf({ more: { facts: undefined } }))).rejects.toThrow(
    "No tool of that name is available here.",
  );
});

test("our own tools are hidden only by globs that begin with metamcp:", async () => {
  const { layers } = await testPipeline([
    { use: "filter", deny: ["*"] },
    { use: "filter", deny: ["metamcp:mcp_*"] },
  ]);
  const facts = { server: "metamcp", name: "mcp_execute", labels: [], annotations: {} };
  const { principal } = callOf().origin;
  expect(layers.map((layer) => layer.hidesOwn?.(facts, principal) ?? false)).toEqual([false, true]);
});
