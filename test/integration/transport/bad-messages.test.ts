/** Messages that are no valid request or are too large: each gets an error, and the connection stays open. */
import { expect, test } from "vitest";
import { failedCall, openClient } from "../../support/failed-call.ts";
import { gateway } from "../../support/gateway.ts";
import { textOf } from "../../support/meta.ts";
import { fixture, temp } from "../../support/temp.ts";

test("a result of 50 MB is forwarded, and one over --max-message is an error that keeps the connection", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) }, { maxResultBytes: 100_000_000 });
  const client = await openClient(folder);
  const whole = await client.mcpCall("a", "big", { bytes: 50_000_000 });
  expect(textOf(whole)).toHaveLength(50_000_000 - '{"content":[{"type":"text","text":""}]}'.length);
  await client.close();

  const small = await openClient(folder, "--max-message", "100000", "--log-level", "error");
  const error = await failedCall(small, "a", "big", { bytes: 200_000 });
  expect(error).toMatchObject({ code: "result_too_large", server: "a", retryable: false });
  expect(error["message"]).toMatch(/200\d\d\d bytes.*100000.*--max-message/);
  const request = await small.request("tools/call", {
    name: "mcp_call",
    arguments: { server: "x".repeat(100_000) },
  });
  expect(request.error).toMatchObject({ code: -32600, message: expect.stringMatching(/--max-message/) });
  expect(textOf(await small.mcpCall("a", "echo", { message: "alive" }))).toBe("alive");
  expect(journal.pids()).toHaveLength(2);
  await small.close();
});

test("a client's answer over --max-message fails the child's question and keeps the connection", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--max-message", "100000"] });
  client.reply = () => ({ result: { action: "accept", content: { name: "x".repeat(200_000) } } });
  await client.initialize({ elicitation: {} });
  const result = await client.mcpCall("a", "ask");
  expect(JSON.stringify(result["structuredContent"])).toMatch(/over the limit/);
  await client.close();
});

test("an invalid request gets a JSON-RPC error, and the next request is served", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  const early = await client.request("tools/list");
  expect(early.error).toMatchObject({ code: -32600, message: expect.stringMatching(/initialize/) });
  expect((await client.request("ping")).result).toEqual({});
  for (const params of [
    undefined,
    {},
    [],
    { protocolVersion: 1, capabilities: {} },
    { protocolVersion: "2025-11-25", capabilities: [] },
  ])
    expect((await client.request("initialize", params)).error).toMatchObject({ code: -32602 });
  expect((await client.initialize({}, "1999-01-01")).result).toMatchObject({ protocolVersion: "2025-11-25" });
  expect((await client.initialize()).error).toMatchObject({ code: -32600 });

  const withoutId: [line: string, code: number][] = [
    ["this is no JSON", -32700],
    ['{"jsonrpc":"2.0","method":', -32700],
    ['{"jsonrpc":"2.0","method":"ping"}}', -32700],
    ["[]", -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', -32600],
    ["null", -32600],
    ["{}", -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ];
  for (const [line, code] of withoutId) {
    const answer = client.answer("null");
    client.write(`${line}\n`);
    expect((await answer).error, line).toMatchObject({ code, message: expect.any(String) });
  }
  const withId: [line: string, code: number][] = [
    ['{"jsonrpc":"2.0","id":"x","method":5}', -32600],
    ['{"jsonrpc":"1.0","id":"x","method":"ping"}', -32600],
    ['{"id":"x","method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":"x","method":"ping","params":"none"}', -32600],
    ['{"jsonrpc":"2.0","id":"x","method":"ping","params":{]}', -32700],
    ['{"jsonrpc":"2.0","id":"x"}', -32600],
  ];
  for (const [line, code] of withId) {
    const answer = client.answer('"x"');
    client.write(`${line}\n`);
    expect((await answer).error, line).toMatchObject({ code });
  }
  // Unexpected answers and unknown notifications are ignored.
  client.write(
    '{"jsonrpc":"2.0","id":77,"result":{}}\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n\n',
  );
  client.notify("notifications/no_such_thing", { a: 1 });
  client.notify("notifications/cancelled", { requestId: 12_345 });

  for (const method of ["no/such/method", "prompts/get", "server/discover", "__proto__"])
    expect((await client.request(method)).error, method).toMatchObject({ code: -32601 });
  for (const params of [undefined, [], {}, { name: 5 }, { name: "echo" }, { name: "toString" }]) {
    const { error, result } = await client.request("tools/call", params);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/Tools here: mcp_discover, mcp_provision, mcp_call/),
    });
    expect(result).toBeUndefined();
  }
  expect((await client.request("tools/list", { cursor: "x" })).error).toMatchObject({ code: -32602 });
  const same = [
    client.requestRaw(
      '"twice"',
      "tools/call",
      '{"name":"mcp_call","arguments":{"server":"a","tool":"sleep","args":{"ms":1}}}',
    ),
  ];
  client.write('{"jsonrpc":"2.0","id":"twice","method":"ping"}\n');
  expect((await same[0])?.error).toMatchObject({ code: -32600, message: expect.stringMatching(/id/) });
  expect(textOf(await client.mcpCall("a", "echo", { message: "still here" }))).toBe("still here");
});
