/** Tools under `tools.ask` run only after the person at the client has agreed. */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";

async function open(capabilities: object): Promise<{ client: RawClient; executed: () => number }> {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), tools: { ask: ["count*"] } } });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize(capabilities);
  return { client, executed: () => journal.events("count").length };
}

test("a tool under `ask` runs after a yes and not after a no, and other tools do not ask", async () => {
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

test("a cancelled or failed question, and a client that cannot be asked, count as a no", async () => {
  const { client, executed } = await open({ elicitation: {} });
  for (const reply of [
    { result: { action: "cancel" } },
    { result: null },
    { error: { code: -32601, message: "no" } },
  ]) {
    client.reply = () => reply;
    const error = failureOf(await client.mcpCall("a", "count", { key: "k" }));
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringMatching(/did not answer/) });
  }
  expect(executed()).toBe(0);
  await client.close();
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const unable = await open(capabilities);
    const error = failureOf(await unable.client.mcpCall("a", "count", { key: "k" }));
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringMatching(/cannot ask/) });
    expect([unable.client.requests, unable.executed()]).toEqual([[], 0]);
    await unable.client.close();
  }
});

test("cancelling a call cancels its question, and a late yes has no effect", async () => {
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

/** Every way to call a tool: the surface, its tool and the arguments. */
const call = { server: "a", tool: "count", args: { key: "k" } };
const step = { tool_id: "a:count", args: { key: "k" } };
const code = "await tools.a.count({ key: 'k' }).catch((e) => e.code)";
const WAYS: readonly (readonly [surface: string, tool: string, args: object])[] = [
  ["meta", "mcp_call", call],
  ["meta", "mcp_execute", { code }],
  ["metatools", "run_tool", step],
  ["metatools", "run_chain", { steps: [step] }],
  ["metatools", "execute_code", { language: "javascript", code }],
  ["aggregate", "a__count", { key: "k" }],
];

test("every surface asks before the call, also in chains and code, and refuses if the client cannot be asked", async () => {
  for (const surface of new Set(WAYS.map(([of]) => of))) {
    const folder = temp();
    const journal = folder.journal();
    folder.writeConfig({ a: { ...fixture("--journal", journal.file), tools: { ask: ["count*"] } } });
    const flags = ["--surface", surface, "--log-level", "error"];
    const open = async (capabilities: object): Promise<RawClient> => {
      const client = gateway(folder, { flags });
      await client.initialize(capabilities);
      return client;
    };
    const asked = await open({ elicitation: {} });
    const unable = await open({});
    for (const [of, tool, args] of WAYS) {
      if (of !== surface) continue;
      const before = journal.events("count").length;
      const questions = asked.requests.length;
      const refused = async (client: RawClient): Promise<void> => {
        const told = JSON.stringify(await client.tool(tool, args));
        expect(told, tool).toContain("forbidden");
        expect(journal.events("count")).toHaveLength(before);
      };
      await refused(unable);
      asked.reply = () => ({ result: { action: "decline" } });
      await refused(asked);
      asked.reply = () => ({ result: { action: "accept" } });
      const told = await asked.tool(tool, args);
      expect(told, tool).not.toHaveProperty("isError");
      expect(JSON.stringify(told), tool).toContain(`k ${before + 1}`);
      expect(journal.events("count")).toHaveLength(before + 1);
      expect(asked.requests.slice(questions).map(({ method }) => method)).toEqual([
        "elicitation/create",
        "elicitation/create",
      ]);
    }
    expect(unable.requests).toEqual([]);
    await Promise.all([asked.close(), unable.close()]);
  }
});
