/** Changing lists: which clients are notified, how often, and how the auto surface decides. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { envelope, era2026Headers } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { httpGateway, messages } from "../../support/http-gateway.ts";
import { aggregate, listChanges, names } from "../../support/lists.ts";
import { textOf } from "../../support/meta.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("a client is notified once per change of its own lists, and never with --no-notify", async () => {
  const folder = temp();
  const flags = ["--prompts", "1", "--resources", "1"];
  folder.writeConfig({ a: fixture(...flags), "b-": fixture("--bare", "--tools", "1") });
  const client = aggregate(folder);
  await client.initialize();
  await names(client);
  await names(client, "prompts/list");
  await names(client, "resources/list");
  // An announced list without changes is not a change.
  await client.tool("a__change", { add: ["x"], remove: ["x"], prompts: ["prompt_1"] });
  await client.tool("a__notify", { method: "notifications/resources/list_changed" });
  await client.until(() => listChanges(client).length > 0);
  expect(listChanges(client)).toEqual(["notifications/prompts/list_changed"]);
  expect(await names(client, "prompts/list")).toEqual(["a__prompt_0", "a__prompt_1"]);
  await client.tool("a__change", { resources: ["fixture://new"] });
  await client.until(() => listChanges(client).length > 1);
  expect(listChanges(client)).toEqual([
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
  ]);
  await client.close();

  const silent = aggregate(folder, { flags: ["--no-notify"] });
  const { result } = await silent.initialize();
  expect(result).toMatchObject({ capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } } });
  expect(JSON.stringify(result?.["capabilities"])).not.toContain("listChanged");
  await names(silent);
  await silent.tool("a__change", { add: ["x"] });
  await until(async () => (await names(silent)).includes("a__x"));
  // Longer than the delay of a notification.
  await silent.tool("a__sleep", { ms: 500 });
  await silent.close();
  expect(listChanges(silent)).toEqual([]);
});

test("a server added to the config appears in the list, and a removed one disappears", async () => {
  const folder = temp();
  const one = fixture("--bare", "--tools", "1");
  folder.writeConfig({ a: one });
  const client = aggregate(folder);
  await client.initialize();
  expect(await names(client)).toEqual(["a__tool_0"]);
  folder.writeConfig({ a: one, b: one });
  await client.until(() => listChanges(client).length > 0);
  expect(await names(client)).toEqual(["a__tool_0", "b__tool_0"]);
  folder.writeConfig({ b: one });
  await client.until(() => listChanges(client).length > 1);
  expect(await names(client)).toEqual(["b__tool_0"]);
  folder.writeConfig({ b: { ...one, prefix: "none" } });
  await client.until(() => listChanges(client).length > 2);
  expect(await names(client)).toEqual(["tool_0"]);
  await client.close();
});

test("the auto surface lists all tools while they are few, and otherwise becomes the meta surface", async () => {
  const folder = temp();
  const auto = (): RawClient => gateway(folder, { flags: ["--surface", "auto"] });
  folder.writeConfig({ a: fixture("--bare", "--tools", "3", "--prompts", "1") });
  const few = auto();
  const { result } = await few.initialize();
  expect(result).toMatchObject({ capabilities: { prompts: {}, resources: { subscribe: true } } });
  // The instructions match the surface.
  expect(result?.["instructions"]).not.toContain("mcp_discover");
  const lists = await Promise.all([names(few, "prompts/list"), names(few)]);
  expect(lists).toEqual([["a__prompt_0"], ["a__tool_0", "a__tool_1", "a__tool_2"]]);
  expect(textOf(await few.tool("a__tool_0", { message: "hi" }))).toBe("hi");
  await few.close();

  folder.writeConfig({ a: fixture("--tools", "100", "--prompts", "1") });
  const many = auto();
  expect((await many.initialize()).result?.["instructions"]).toContain("mcp_discover");
  expect(textOf(await many.mcpCall("a", "echo", { message: "hi" }))).toBe("hi");
  expect(await names(many)).toContain("mcp_discover");
  expect(await names(many, "prompts/list")).toEqual([]);
  expect((await many.request("tools/call", { name: "a__echo" })).error?.code).toBe(-32602);
  await many.mcpCall("a", "change", { remove: ["echo"] });
  await many.close();
  expect(listChanges(many)).toEqual([]);

  folder.writeConfig({
    a: fixture("--bare", "--tools", "1"),
    late: fixture("--wait-for", folder.path("open")),
  });
  const unknown = auto();
  await unknown.initialize();
  expect(await names(unknown)).toContain("mcp_call");
  writeFileSync(folder.path("open"), "");
  await unknown.close();
});

test("autoMaxBytes moves the limit of the auto surface, and its variable wins over the file", async () => {
  const folder = temp();
  const shown = async (autoMaxBytes: number, env?: Record<string, string>): Promise<string[]> => {
    folder.writeConfig({ a: fixture("--bare", "--tools", "3") }, { autoMaxBytes });
    const client = gateway(folder, { flags: ["--surface", "auto"], ...(env && { env }) });
    await client.initialize();
    const list = await names(client);
    await client.close();
    return list;
  };
  expect(await shown(100)).toContain("mcp_discover");
  expect(await shown(100_000)).toContain("a__tool_0");
  expect(await shown(100, { METAMCP_AUTO_MAX_BYTES: "100000" })).toContain("a__tool_0");
  // No list is that small.
  expect(await shown(0)).toContain("mcp_discover");
});

test("the auto surface decides for each kind of 2026-07-28 client by the tools that it would see", async () => {
  const folder = temp();
  // Clients with sampling get more tools than fit.
  const script = folder.write(
    "server.mjs",
    `import { createInterface } from "node:readline";
     let many = false;
     createInterface({ input: process.stdin }).on("line", (line) => {
       const { id, method, params } = JSON.parse(line);
       if (id === undefined) return;
       if (method === "initialize") many = params.capabilities.sampling !== undefined;
       const tools = Array.from({ length: many ? 200 : 2 }, (_, n) => ({ name: "t" + n, inputSchema: { type: "object" } }));
       const serverInfo = { name: "s", version: "1" };
       const greeting = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
       const result = method === "initialize" ? greeting : { tools };
       process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
     });`,
  );
  folder.writeConfig({ s: { command: process.execPath, args: [script] } });
  const http = await httpGateway(folder, "--surface", "auto");
  const ask = async (method: string, capabilities: Record<string, unknown>) => {
    const params = { _meta: envelope(capabilities) };
    const [answer] = await messages(
      await http.post({ id: 1, method, params }, era2026Headers(method, params)),
    );
    return answer?.["result"] as { tools: { name: string }[]; instructions: string };
  };
  const shown = async (capabilities: Record<string, unknown>) =>
    (await ask("tools/list", capabilities)).tools.map(({ name }) => name);
  for (let round = 0; round < 2; round++) {
    expect(await shown({})).toEqual(["s__t0", "s__t1"]);
    expect(await shown({ sampling: {} })).toContain("mcp_discover");
  }
  expect((await ask("server/discover", {})).instructions).not.toContain("mcp_discover");
  expect((await ask("server/discover", { sampling: {} })).instructions).toContain("mcp_discover");
  await http.stop();
});
