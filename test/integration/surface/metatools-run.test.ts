/** The metatools surface over stdio: what run_tool returns, its progress and its cancellation. */
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { Metatools, runVerbatim, verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

test("run_tool returns structured content, parsed JSON text or plain text as the value, and keeps images as content", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const run = async (result: unknown) => await metatools.call("run_tool", runVerbatim(result));
  const text = (words: string) => ({ type: "text", text: words });
  expect((await run({ content: [text("other")], structuredContent: { a: 1 } })).value.structured).toEqual({
    a: 1,
  });
  expect((await run({ content: [text('{"a": [1,\n 2]}')] })).value.structured).toEqual({ a: [1, 2] });
  expect((await run({ content: [text("12 monkeys")] })).value.structured).toBe("12 monkeys");
  expect((await run({ content: [text("1"), text("2")] })).value.structured).toBe("1\n2");
  expect((await run({ content: [] })).value.structured).toBeNull();
  const done = await run({
    content: [text("hi"), { type: "image", data: "AAAA", mimeType: "image/png" }, { type: "hologram", x: 1 }],
    _meta: { "x/y": 1 },
  });
  expect(done.value.structured).toBe("hi");
  expect(done.content.slice(1)).toEqual([
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "hologram", x: 1 },
  ]);
  expect(done.meta).toEqual({ "x/y": 1 });
  expect(done.text).toBe("hi");
  expect(done.value.durationMs).toBeGreaterThan(0);
  expect(Object.keys(done.value)).toEqual(["structured", "durationMs"]);

  const long = '{"content":[],"structuredContent":{"n":12345678901234567890,"f":1.0}}';
  const { raw } = await metatools.client.request("tools/call", {
    name: "run_tool",
    arguments: runVerbatim(long),
  });
  expect(raw.toString()).toContain('"structured":{"n":12345678901234567890,"f":1.0}');
  const full = await metatools.call("run_tool", {
    ...runVerbatim(long),
    include_tool: true,
    include_backend: true,
    include_mcp_result: true,
  });
  expect(full.value).toMatchObject({
    tool: { name: "give" },
    backend: { kind: "mcp", server: "v" },
    mcpResult: { content: [] },
  });
  await metatools.close();
});

test("an invalid result of a server still gives an answer that a strict client accepts", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  for (const result of [
    "5",
    "[]",
    "null",
    '{"content":"x"}',
    '{"content":[5,null,"x",[1],{"no":1}],"_meta":5}',
    '{"content":[{"type":"text","text":5},{"type":5}],"_meta":[1]}',
    '{"content":[{"type":"image","data":5},{"type":"audio","data":"AAAA"}],"_meta":null}',
    '{"content":[{"type":"resource"},{"type":"resource","resource":{"uri":"a:b"}},{"type":"resource_link"}]}',
    '{"content":[7],"isError":true,"_meta":"x"}',
  ])
    for (const [name, args] of [
      ["run_tool", { ...runVerbatim(result), include_mcp_result: true }],
      ["run_chain", { steps: [runVerbatim(result)] }],
    ] as const) {
      const answer = await metatools.client.request("tools/call", { name, arguments: args });
      metatools.read(name, answer.result ?? {});
      expect(CallToolResultSchema.safeParse(answer.result).error, result).toBeUndefined();
    }
  await metatools.close();
});

test("run_tool reports the child's progress or start and end, always increasing, and only if requested", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  const reported = (token: unknown): unknown[] =>
    client.notifications
      .filter(({ params }) => params?.["progressToken"] === token)
      .map(({ params }) => params?.["progress"]);
  await metatools.call("run_tool", { tool_id: "a:progress", args: { n: 3 } }, { progressToken: "own" });
  expect(reported("own")).toEqual([0, 1, 2, 3]);
  await metatools.call("run_tool", { tool_id: "a:echo", args: { message: "x" } }, { progressToken: 7 });
  expect(reported(7)).toEqual([0, 1]);
  // A list_changed notification may arrive at any time.
  const all = () => client.notifications.filter(({ method }) => method === "notifications/progress").length;
  const before = all();
  await metatools.call("run_tool", { tool_id: "a:progress", args: { n: 3 } });
  expect(all()).toBe(before);
  await metatools.close();
});

test("a cancellation reaches the child, and a step that waits for a starting child times out", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file), slow: fixture("--no-initialize") });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  void client.tool("run_tool", { tool_id: "a:sleep", args: { ms: 60_000 } }).catch(() => {});
  await journal.until(() => journal.events().some(({ tool }) => tool === "sleep"));
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await journal.until(() => journal.events("cancelled").length > 0);
  expect(
    (await metatools.call("run_tool", { tool_id: "a:echo", args: { message: "on" } })).value.structured,
  ).toBe("on");
  const late = await metatools.call("run_chain", { steps: [{ tool_id: "slow:echo", timeout_ms: 50 }] });
  expect(late.value.results[0].error).toMatchObject({ code: "timeout", step_index: 0 });
  client.kill("SIGTERM");
  await client.exited;
});

test("a client without structured content gets the value as text", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--surface", "metatools", "--log-level", "error"] });
  await client.initialize({}, "2025-03-26");
  const result = await client.tool("run_tool", { tool_id: "a:add", args: { a: 1, b: 2 } });
  expect(result).not.toHaveProperty("structuredContent");
  const [block] = result["content"] as { text: string }[];
  expect(JSON.parse(block?.text ?? "")).toMatchObject({ structured: { sum: 3 } });
  await client.close();
});
