/**
 * The official everything server through the aggregate surface: a single server without prefix gives the same
 * bytes as without MetaMCP, and all its features work through an SDK client.
 */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { aggregate } from "../support/lists.ts";
import { RawClient } from "../support/raw-client.ts";
import { fixture, ROOT, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const SCRIPT = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const everything = { command: process.execPath, args: [SCRIPT] };

const resultIn = (raw: Buffer): string =>
  /"result":(.*?)(,"jsonrpc":"2.0","id":\d+)?\}$/s.exec(raw.toString())?.[1] ?? "";

test("lists and results of a single server without prefix are forwarded byte for byte", async () => {
  const folder = temp();
  folder.writeConfig({ everything: { ...everything, prefix: "none" } });
  const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
  const direct = new RawClient(process.execPath, { args: [SCRIPT] });
  const through = aggregate(folder);
  for (const client of [direct, through]) {
    client.reply = () => ({ result: { roots: [] } });
    await client.initialize(capabilities);
  }
  // The server adds tools after it has learned the client's capabilities.
  for (const client of [direct, through]) {
    const all = async (): Promise<boolean> =>
      (await client.request("tools/list")).raw.includes("trigger-sampling-request");
    await until(all, { what: "the tools that depend on the client" });
  }

  for (const [method, params] of [
    ["tools/list", undefined],
    ["prompts/list", undefined],
    ["resources/list", undefined],
    ["resources/templates/list", undefined],
    ["tools/call", { name: "get-structured-content", arguments: { location: "New York" } }],
    [
      "tools/call",
      { name: "get-annotated-message", arguments: { messageType: "error", includeImage: true } },
    ],
    ["tools/call", { name: "no-such-tool-at-all" }],
    ["prompts/get", { name: "args-prompt", arguments: { city: "Paris" } }],
    ["resources/read", { uri: "demo://resource/static/document/features.md" }],
    ["resources/read", { uri: "demo://nothing/at/all" }],
    [
      "completion/complete",
      {
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      },
    ],
  ] as const) {
    const [expected, got] = [await direct.request(method, params), await through.request(method, params)];
    if (method === "tools/call" && params.name.startsWith("no-such")) {
      expect(got.error?.code).toBe(-32602);
      continue;
    }
    const own = resultIn(expected.raw) || expected.error;
    expect(own, method).toBeTruthy();
    expect(resultIn(got.raw) || got.error, method).toEqual(own);
  }
  const { result } = await through.request("initialize", {});
  expect(result).toBeUndefined();
  await through.close();
  await direct.close();
});

async function connect(folder: Temp): Promise<Client> {
  const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
  const client = new Client({ name: "end-to-end", version: "1" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: "none",
    role: "assistant",
    content: { type: "text", text: "forty-two" },
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///somewhere" }] }));
  const args = [join(ROOT, "dist/metamcp.js"), "--config", folder.config, "--surface", "aggregate"];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args, "--log-level", "error"],
    cwd: folder.path("."),
    env: { ...folder.env },
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

test("all features of a server work through an SDK client while another server is connected", async () => {
  const folder = temp();
  folder.writeConfig({ every: everything, other: fixture("--bare", "--tools", "1", "--prompts", "1") });
  const client = await connect(folder);
  const updates: string[] = [];
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updates.push(params.uri),
  );
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));

  const tools = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  expect(await tools()).toEqual(expect.arrayContaining(["every__echo", "other__tool_0"]));
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["every__simple-prompt", "other__prompt_0"]),
  );
  const sum = await client.callTool({ name: "every__get-sum", arguments: { a: 2, b: 3 } });
  expect(JSON.stringify(sum)).toContain("5");
  const prompt = await client.getPrompt({ name: "every__args-prompt", arguments: { city: "Paris" } });
  expect(JSON.stringify(prompt)).toContain("Paris");
  const { resources } = await client.listResources();
  const read = await client.readResource({ uri: resources[0]?.uri ?? "" });
  expect(read.contents[0]).toMatchObject({ uri: resources[0]?.uri });
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.length).toBeGreaterThan(0);
  expect((await client.readResource({ uri: "demo://resource/dynamic/text/1" })).contents).toHaveLength(1);
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "every__completable-prompt" },
    argument: { name: "department", value: "E" },
  });
  expect(completion.values).toContain("Engineering");

  await until(async () => (await tools()).includes("every__trigger-elicitation-request"));
  expect(JSON.stringify(await client.callTool({ name: "every__trigger-elicitation-request" }))).toContain(
    "Ada",
  );
  const sampled = await client.callTool({
    name: "every__trigger-sampling-request",
    arguments: { prompt: "what?" },
  });
  expect(JSON.stringify(sampled)).toContain("forty-two");
  const progress: number[] = [];
  const long = { name: "every__trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
  await client.callTool(long, undefined, { onprogress: (one) => progress.push(one.progress) });
  // The SDK drops progress that it reads together with the result, so the last reports may be missing.
  expect(progress.length).toBeGreaterThan(0);
  expect(progress).toEqual([1, 2, 3].slice(0, progress.length));

  await client.subscribeResource({ uri: "demo://resource/dynamic/text/1" });
  await client.callTool({ name: "every__toggle-subscriber-updates" });
  await until(() => updates.length > 0, { what: "an update of the resource" });
  expect(updates[0]).toBe("demo://resource/dynamic/text/1");
  await client.setLoggingLevel("debug");
  await client.callTool({ name: "every__toggle-simulated-logging" });
  await until(() => logged.length > 0, { what: "a log message" });
  await client.close();
});
