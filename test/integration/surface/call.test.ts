/** A call through all parts: client, session, surface, pool, child, and back. */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { alive, gone } from "../../support/processes.ts";
import { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";

test("the gateway lists its own tools without starting a child, calls a child, and leaves no process behind", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = gateway(folder);
  const hello = await client.initialize();
  expect(hello.result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "metamcp" } });
  const listed = await client.request("tools/list");
  expect(listed.raw.length).toBeLessThan(2_200);
  expect(journal.pids()).toEqual([]);

  const result = await client.mcpCall("a", "echo", { message: "hi" });
  expect(result).toMatchObject({ content: [{ type: "text", text: "hi" }] });
  const [pid] = journal.pids();
  expect(alive(pid as number)).toBe(true);

  expect(await client.close()).toMatchObject({ code: 0 });
  await gone(journal.pids());
});

test("concurrent first calls start one process, which receives nothing before its handshake", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file, "--slow-start", "200") });
  const client = gateway(folder);
  await client.initialize();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, n) => client.mcpCall("a", "echo", { message: `${n}` })),
  );
  expect(results.map((result) => JSON.stringify(result["content"]))).toEqual(
    results.map((_, n) => JSON.stringify([{ type: "text", text: `${n}` }])),
  );
  expect(journal.pids()).toHaveLength(1);
  expect(journal.events().filter((event) => event.early)).toEqual([]);
  const methods = journal.events("message").map((event) => event.method);
  expect(methods.slice(0, 3)).toEqual(["initialize", "notifications/initialized", "tools/list"]);
  await client.close();
});

test("unknown fields and unusual numbers are forwarded unchanged in both directions", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  await client.initialize();
  const args = `{"n":12345678901234567890,"f":1.0,"z":-0,"e":1e400,"s":"\\ud800","__proto__":{"x":1},"constructor":2}`;
  const echoed = await client.requestRaw(
    100,
    "tools/call",
    `{"name":"mcp_call","arguments":{"server":"a","tool":"args","args":${args}},"_meta":{"x.y/z":[1.50]}}`,
  );
  const text = Buffer.from(textOf(echoed.result), "base64").toString();
  expect(text).toContain(`"arguments":${args}`);
  expect(text).toContain(`"_meta":{"x.y/z":[1.50]}`);

  const direct = new RawClient(process.execPath, { args: fixture().args });
  await direct.initialize();
  const expected = await direct.requestRaw(7, "tools/call", `{"name":"weird","arguments":{}}`);
  const got = await client.requestRaw(
    7,
    "tools/call",
    `{"name":"mcp_call","arguments":{"server":"a","tool":"weird"}}`,
  );
  const resultOf = (raw: Buffer): string =>
    /"result":(.*?)(,"jsonrpc".*)?\}$/s.exec(raw.toString())?.[1] ?? "";
  expect(resultOf(got.raw)).toBe(resultOf(expected.raw));
  expect(resultOf(got.raw).length).toBeGreaterThan(50);
  await client.close();
  await direct.close();
});

function textOf(result: Record<string, unknown> | undefined): string {
  const content = result?.["content"] as { text: string }[] | undefined;
  return content?.[0]?.text ?? "";
}

test("progress uses the client's own token, and a cancellation reaches the child", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "progress", { n: 3 }, { progressToken: "mine" });
  expect(client.notifications.map(({ params }) => params?.["progressToken"])).toEqual([
    "mine",
    "mine",
    "mine",
  ]);

  const id = client.lastId + 1;
  void client.mcpCall("a", "sleep", { ms: 60_000 }).catch(() => {});
  await journal.until(() => journal.events().some(({ tool }) => tool === "sleep"));
  client.notify("notifications/cancelled", { requestId: id, reason: "enough" });
  await journal.until(() => journal.events("cancelled").length > 0);
  expect(await client.mcpCall("a", "echo", { message: "still here" })).toMatchObject({
    content: [{ text: "still here" }],
  });
  await client.close();
});

test("a child asks the client during a call and receives the answer", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  client.reply = () => ({ result: { action: "accept", content: { name: "Ada" } } });
  await client.initialize({ elicitation: {} });
  const result = await client.mcpCall("a", "ask");
  expect(client.requests.map(({ method }) => method)).toEqual(["elicitation/create"]);
  expect(JSON.stringify(result)).toContain("Ada");
  await client.close();
});

test("requests sent together with the handshake are answered after it", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  const order: string[] = [];
  const send = async (method: string, params?: object): Promise<void> => {
    await client.request(method, params);
    order.push(method);
  };
  const clientInfo = { name: "eager", version: "1" };
  await Promise.all([
    send("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }),
    send("tools/list"),
    send("tools/call", {
      name: "mcp_call",
      arguments: { server: "a", tool: "echo", args: { message: "x" } },
    }),
  ]);
  expect(order).toEqual(["initialize", "tools/list", "tools/call"]);
  await client.close();
});
