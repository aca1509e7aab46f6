/**
 * Batches, which only revision 2025-03-26 has: its clients get one answer for the whole batch, other clients
 * get an error.
 */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { HEADERS, type HttpGateway, httpGateway } from "../../support/http-gateway.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Json = Record<string, unknown>;
const call = (id: unknown, tool: string, args: object = {}): Json => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "mcp_call", arguments: { server: "a", tool, args } },
});
const ids = (answers: readonly Json[]): unknown[] => answers.map(({ id }) => id).toSorted();

async function onStdio(version: string): Promise<{ client: RawClient; file: string }> {
  const folder = temp();
  folder.writeConfig({ a: fixture("--journal", folder.journal().file) });
  const client = gateway(folder);
  await client.initialize({ elicitation: {} }, version);
  return { client, file: folder.journal().file };
}

/** The next line that is an array. */
async function nextArray(client: RawClient): Promise<Json[]> {
  const line = await until(() => client.strays.find((stray) => stray.startsWith("[")));
  client.strays.splice(client.strays.indexOf(line), 1);
  return JSON.parse(line) as Json[];
}

test("a batch on stdio is answered with one line when all its requests are done", async () => {
  const { client } = await onStdio("2025-03-26");
  const batch = [
    call(1001, "sleep", { ms: 200 }),
    { jsonrpc: "2.0", method: "notifications/unknown" },
    call("two", "echo", { message: "hi" }),
    { jsonrpc: "2.0", id: 1003, method: "no/such/method" },
    { jsonrpc: "2.0", id: 1004, method: "initialize", params: {} },
    { jsonrpc: "2.0" },
  ];
  client.write(`${JSON.stringify(batch)}\n`);
  const answers = await nextArray(client);
  expect(ids(answers)).toEqual([null, 1001, 1003, 1004, "two"].toSorted());
  const of = (id: unknown): Json | undefined => answers.find((answer) => answer["id"] === id);
  expect(of("two")).toMatchObject({ result: { content: [{ text: "hi" }] } });
  expect(of(1003)).toMatchObject({ error: { code: -32601 } });
  for (const id of [1004, null]) expect(of(id)).toMatchObject({ error: { code: -32600 } });

  // The client may answer requests of the server in a batch too.
  client.write(`${JSON.stringify([call(1005, "ask"), call(1006, "hang")])}\n`);
  await client.until(() => client.requests.length === 1);
  const asked = client.requests[0]?.id;
  client.write(
    `${JSON.stringify([
      { jsonrpc: "2.0", id: asked, result: { action: "decline" } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1006 } },
    ])}\n`,
  );
  const [only, ...none] = await nextArray(client);
  expect(only).toMatchObject({ id: 1005, result: { structuredContent: { answer: { action: "decline" } } } });
  expect(none).toEqual([]);
  await client.close();
});

test("an empty batch, a batch that is too long, and a batch in another revision are errors", async () => {
  const { client } = await onStdio("2025-03-26");
  const many = Array.from({ length: 101 }, (_, id) => call(id, "echo"));
  for (const [batch, says] of [
    [[], /empty/],
    [many, /100/],
  ] as const) {
    const answer = client.answer("null");
    client.write(`${JSON.stringify(batch)}\n`);
    expect((await answer).error).toMatchObject({ code: -32600, message: expect.stringMatching(says) });
  }
  await client.close();
  for (const version of ["2025-11-25", "2024-11-05"]) {
    const { client: other } = await onStdio(version);
    const answer = other.answer("null");
    other.write(`${JSON.stringify([call(1, "echo", { message: "hi" })])}\n`);
    expect((await answer).error).toMatchObject({ code: -32600, message: "batches are not supported" });
    await other.close();
  }
});

async function session(server: HttpGateway, protocolVersion: string): Promise<Record<string, string>> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const answer = await server.post({ id: 0, method: "initialize", params });
  await answer.text();
  return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
}

test.each(["events", "JSON"])("a batch over HTTP has one response (%s)", async (form) => {
  const json = form === "JSON";
  const folder = temp();
  folder.writeConfig({ a: fixture("--journal", folder.journal().file) });
  const server = await httpGateway(folder, ...(json ? ["--json-response"] : []));
  const named = await session(server, "2025-03-26");
  const post = (batch: unknown, headers = named): Promise<Response> =>
    fetch(server.url, { method: "POST", headers: { ...HEADERS, ...headers }, body: JSON.stringify(batch) });

  for (const ms of [0, 1_500]) {
    const response = await post([
      call(1, "echo", { message: "hi" }),
      call(2, "sleep", { ms }),
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(json ? "application/json" : "text/event-stream");
    const text = await response.text();
    const body = json ? text : /^data: (\[.*)$/m.exec(text)?.[1];
    expect(ids(JSON.parse(body ?? "null"))).toEqual([1, 2]);
  }
  // A cancelled request has no answer, and the other answers do not wait for it.
  const partly = post([call("never", "hang"), call("soon", "echo", { message: "hi" })]);
  await folder.journal().until((journal) => journal.events("message").some(({ tool }) => tool === "hang"));
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "never" } };
  await (await post(cancel)).text();
  const rest = /^(?:data: )?(\[.*)$/m.exec(await (await partly).text())?.[1];
  expect(JSON.parse(rest ?? "null")).toMatchObject([{ id: "soon", result: { content: [{ text: "hi" }] } }]);

  const quiet = await post([{ jsonrpc: "2.0", method: "notifications/initialized" }]);
  expect([quiet.status, await quiet.text()]).toEqual([202, ""]);
  const empty = await post([]);
  expect([empty.status, await empty.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  for (const headers of [await session(server, "2025-06-18"), {} as Record<string, string>]) {
    const refused = await post([call(1, "echo")], headers);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: -32600, message: "batches are not supported" } },
    ]);
  }
  await server.stop();
});
