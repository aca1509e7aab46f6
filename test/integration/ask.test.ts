/** Tools under `tools.ask` run only after a yes of the person at the client. */
import { expect, test } from "vitest";
import { gateway } from "../support/gateway.ts";
import { failureOf, textOf } from "../support/meta.ts";
import type { RawClient } from "../support/raw-client.ts";
import { fixture, temp } from "../support/temp.ts";

async function open(capabilities: object): Promise<{ client: RawClient; executed: () => number }> {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), tools: { ask: ["count*"] } } });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize(capabilities);
  return { client, executed: () => journal.events("count").length };
}

test("a yes runs it, a no does not, and other tools are not asked about", async () => {
  const { client, executed } = await open({ elicitation: {} });
  client.reply = ({ params }) => ({
    result: { action: JSON.stringify(params).includes("wanted") ? "accept" : "decline" },
  });
  expect(textOf(await client.mcpCall("a", "echo", { message: "free" }))).toBe("free");
  expect(client.requests).toEqual([]);

  expect(textOf(await client.mcpCall("a", "count", { key: "wanted" }))).toBe("wanted 1");
  const [question] = client.requests;
  expect(question?.method).toBe("elicitation/create");
  expect(question?.params).toEqual({
    message: 'Allow a to run count with {"key":"wanted"}?',
    requestedSchema: { type: "object", properties: {} },
  });

  const error = failureOf(await client.mcpCall("a", "count_safe", { key: "other" }));
  expect(error).toMatchObject({ code: "forbidden", server: "a", tool_id: "a:count_safe", retryable: false });
  expect(error.message).toMatch(/said no/);
  expect(executed()).toBe(1);
  await client.close();
});

test("no answer, a failed one, and a client that cannot be asked are no yes", async () => {
  const { client, executed } = await open({ elicitation: {} });
  for (const reply of [
    { result: { action: "cancel" } },
    { result: null },
    { error: { code: -32601, message: "no" } },
  ]) {
    client.reply = () => reply;
    const error = failureOf(await client.mcpCall("a", "count", { key: "k" }));
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringMatching(/no answer/) });
  }
  expect(executed()).toBe(0);
  await client.close();
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const mute = await open(capabilities);
    const error = failureOf(await mute.client.mcpCall("a", "count", { key: "k" }));
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringMatching(/cannot ask/) });
    expect([mute.client.requests, mute.executed()]).toEqual([[], 0]);
    await mute.client.close();
  }
});

test("a call that is cancelled takes its question back", async () => {
  const { client, executed } = await open({ elicitation: { form: {} } });
  client.mcpCall("a", "count", { key: "k" }).catch(() => {});
  const id = client.lastId;
  await client.until(({ requests }) => requests.length === 1);
  client.notify("notifications/cancelled", { requestId: id });
  await client.until(({ notifications }) =>
    notifications.some(({ method }) => method === "notifications/cancelled"),
  );
  client.write(
    `{"jsonrpc":"2.0","id":${JSON.stringify(client.requests[0]?.id)},"result":{"action":"accept"}}\n`,
  );
  expect(textOf(await client.mcpCall("a", "echo", { message: "on" }))).toBe("on");
  expect(executed()).toBe(0);
  await client.close();
});

test("on every surface alike, and for all who are asked through it", async () => {
  const calls: readonly (readonly [string, string, object])[] = [
    ["meta", "mcp_call", { server: "a", tool: "count", args: { key: "k" } }],
    ["metatools", "run_tool", { tool_id: "a:count", args: { key: "k" } }],
    ["aggregate", "a__count", { key: "k" }],
  ];
  for (const [surface, tool, args] of calls) {
    const folder = temp();
    const journal = folder.journal();
    folder.writeConfig({ a: { ...fixture("--journal", journal.file), tools: { ask: ["count*"] } } });
    const client = gateway(folder, { flags: ["--surface", surface, "--log-level", "error"] });
    await client.initialize({ elicitation: {} });
    client.reply = () => ({ result: { action: "decline" } });
    expect(failureOf(await client.tool(tool, args)), surface).toMatchObject({
      code: "forbidden",
      server: "a",
    });
    client.reply = () => ({ result: { action: "accept" } });
    expect(await client.tool(tool, args), surface).not.toHaveProperty("isError");
    expect(client.requests.map(({ method }) => method)).toEqual(["elicitation/create", "elicitation/create"]);
    expect(journal.events("count")).toHaveLength(1);
    await client.close();
  }
});
