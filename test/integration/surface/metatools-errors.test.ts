/** The metatools surface over stdio: how failed tools and failed calls are reported. */
import { expect, test } from "vitest";
import { httpChild, json } from "../../support/http-child.ts";
import { Metatools, runVerbatim, verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

test("the structured content of a failed tool is unchanged in the details", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const { client } = await Metatools.open(folder);
  const result = '{"content":[],"isError":true,"structuredContent":{"n":12345678901234567890,"f":1.0}}';
  for (const [name, args] of [
    ["run_tool", runVerbatim(result)],
    ["run_chain", { steps: [runVerbatim(result)] }],
  ] as const) {
    const { raw } = await client.request("tools/call", { name, arguments: args });
    expect(raw.toString()).toContain('"details":{"structured":{"n":12345678901234567890,"f":1.0}}');
  }
  await client.close();
});

test("a failed tool keeps its images and its _meta", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
  const failing = {
    content: [{ type: "text", text: "see there" }, picture],
    isError: true,
    _meta: { "x/y": 1 },
  };
  const told = await metatools.call("run_tool", runVerbatim(failing));
  expect(told.error).toMatchObject({ code: "execution_failed", details: { structured: "see there" } });
  expect(told.content.slice(1)).toEqual([picture]);
  expect(told.meta).toEqual({ "x/y": 1 });
  const chain = await metatools.call("run_chain", { steps: [runVerbatim(failing)] });
  expect(chain.content.slice(1)).toEqual([picture]);

  // Images have a budget of their own, so one beyond the budget of texts stays, also beside a text that is
  // shortened.
  const large = { ...picture, data: Buffer.alloc(100_000, 7).toString("base64") };
  const shown = await metatools.call("run_tool", runVerbatim({ ...failing, content: [large] }));
  expect(shown.content.slice(1)).toEqual([large]);
  const text = "x".repeat(200_000);
  const content = [{ type: "text", text }, picture];
  const long = await metatools.call("run_tool", runVerbatim({ ...failing, content }));
  expect(long.bytes).toBeLessThan(4_096);
  expect(long.content).toContainEqual(picture);
  expect(long.error?.details).toMatchObject({
    uri: expect.stringMatching(/^metamcp:/),
    bytes: expect.any(Number),
  });
  await metatools.close();
});

test("run_tool reports every failure with a code and includes the requested parts", async () => {
  const folder = temp();
  folder.writeConfig({
    a: { ...fixture(), tools: { deny: ["add"], ask: ["roots"] }, timeoutMs: 3_000 },
    down: { command: "no-such-command" },
    off: { ...fixture(), disabled: true },
    v: verbatim(folder),
  });
  const metatools = await Metatools.open(folder);
  const fails = async (args: object) => (await metatools.call("run_tool", args)).error;
  expect(await fails({ tool_id: "a:echo", args: { message: 1 } })).toMatchObject({
    code: "validation_input",
    tool_id: "a:echo",
    server: "a",
    op: "run_tool",
    retryable: false,
    details: { problems: ["message must be string"] },
  });
  expect(await fails({ tool_id: "a:is_error", args: { message: "no luck" } })).toMatchObject({
    code: "execution_failed",
    message: "a:is_error failed: no luck",
  });
  expect(
    await fails(runVerbatim({ content: [], structuredContent: { why: "so" }, isError: true })),
  ).toMatchObject({ code: "execution_failed", details: { structured: { why: "so" } } });
  expect(
    await fails({ tool_id: "a:fail", args: { code: -32005, message: "broke", data: { x: 1 } } }),
  ).toMatchObject({
    code: "execution_failed",
    details: { code: -32005, message: "broke", data: { x: 1 } },
  });
  expect(await fails({ tool_id: "a:hang" })).toMatchObject({ code: "timeout", retryable: false });
  expect(await fails({ tool_id: "a:count_unsafe", args: { key: "x", crashes: 9 } })).toMatchObject({
    code: "server_unavailable",
    retryable: false,
  });
  expect(await fails({ tool_id: "a:echoo" })).toMatchObject({
    code: "tool_not_found",
    message: expect.stringMatching(/Nearest: echo.*list_tools/),
    details: { nearest: ["echo"] },
  });
  expect(await fails({ tool_id: "a:add", args: { a: 1, b: 2 } })).toMatchObject({ code: "tool_not_found" });
  expect(await fails({ tool_id: "off:echo" })).toMatchObject({ code: "server_not_found" });
  expect(await fails({ tool_id: "down:echo" })).toMatchObject({
    code: "server_unavailable",
    retryable: false,
  });
  expect(await fails({ tool_id: "a:roots" })).toMatchObject({ code: "forbidden" });
  expect(await fails({ tool_id: "echo" })).toMatchObject({ code: "validation_input" });
  expect(await fails({ tool_id: "a:echo", args: [] })).toMatchObject({
    code: "validation_input",
    message: 'run_tool: "args" must be an object.',
  });
  expect(await fails({ tool_id: "a:echo", argz: {} })).toMatchObject({
    code: "validation_input",
    message: expect.stringMatching(/there is no argument "argz"/),
  });
  expect(await fails({ tool_id: "a:echo", args: { message: "x" }, stream: true })).toMatchObject({
    code: "stream_not_supported",
  });
  for (const backend_override of ["mcp", 1, false, {}])
    expect(await fails({ tool_id: "a:echo", args: { message: "x" }, backend_override })).toMatchObject({
      code: "backend_override_invalid",
    });
  expect(
    await fails({ tool_id: "a:echo", args: { message: "x" }, stream: false, backend_override: null }),
  ).toBeUndefined();
  const known = await metatools.call("run_tool", {
    tool_id: "a:is_error",
    include_tool: true,
    include_backend: true,
    include_mcp_result: true,
  });
  expect(known.value).toMatchObject({
    tool: { name: "is_error" },
    backend: { server: "a" },
    mcpResult: { isError: true },
    durationMs: expect.any(Number),
  });
  await metatools.close();
});

test("a 429 of a server becomes rate_limited with the time to retry after", async () => {
  const tool = { name: "busy", inputSchema: { type: "object" } };
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
    },
    "tools/list": { tools: [tool] },
  };
  const child = await httpChild(({ message: { id, method = "" } }, response) => {
    const result = results[method];
    if (result) json(response, { jsonrpc: "2.0", id, result });
    else if (id === undefined) response.writeHead(method ? 202 : 405).end();
    else response.writeHead(429, { "retry-after": "7" }).end("slow down");
  });
  const folder = temp();
  folder.writeConfig({ far: { url: child.url } });
  const metatools = await Metatools.open(folder);
  const { error } = await metatools.call("run_tool", { tool_id: "far:busy" });
  expect(error).toMatchObject({ code: "rate_limited", server: "far", retryable: true, retryAfterMs: 7_000 });
  const chain = await metatools.call("run_chain", { steps: [{ tool_id: "far:busy" }] });
  expect(chain.error?.details?.cause).toMatchObject({
    code: "rate_limited",
    retryAfterMs: 7_000,
    step_index: 0,
  });
  await metatools.close();
});
