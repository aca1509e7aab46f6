/**
 * The metatools through the official clients, which check every result against the output schema of its tool.
 */
import { join } from "node:path";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test } from "vitest";
import { runVerbatim, verbatim } from "../../support/metatools.ts";
import { fixture, ROOT, type Temp, temp } from "../../support/temp.ts";

const info = { name: "metatools", version: "1.0.0" };

interface Client {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  readResource(params: { uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

function program(folder: Temp) {
  const flags = ["--config", folder.config, "--surface", "metatools", "--log-level", "error"];
  const args = [join(ROOT, "dist/metamcp.js"), ...flags];
  return { command: process.execPath, args, cwd: folder.path("."), env: { ...folder.env } };
}

const CLIENTS: Readonly<Record<string, (folder: Temp) => Promise<Client>>> = {
  "SDK v1": async (folder) => {
    const client = new ClientV1(info);
    await client.connect(new StdioV1(program(folder)));
    return client as unknown as Client;
  },
  "SDK v2": async (folder) => {
    const client = new ClientV2(info);
    await client.connect(new StdioV2(program(folder)));
    return client as unknown as Client;
  },
};

test.each(Object.keys(CLIENTS))("%s accepts every answer of the metatools", async (sdk) => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder), down: { command: "no-such-command" } });
  const client = (await CLIENTS[sdk]?.(folder)) as Client;
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(8);

  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })) as {
      isError?: boolean;
      structuredContent: Record<string, unknown>;
      content: { type: string; uri?: string }[];
    };
  const echo = { tool_id: "a:echo", args: { message: "hi" } };
  const good: readonly (readonly [string, Record<string, unknown>?])[] = [
    ["search_tools", { query: "add numbers" }],
    ["list_tools", { limit: 2 }],
    ["list_namespaces"],
    ["describe_tool", { tool_id: "a:add", detail_level: "full" }],
    ["list_tool_examples", { tool_id: "a:add" }],
    ["run_tool", { ...echo, include_tool: true, include_backend: true, include_mcp_result: true }],
    ["run_tool", runVerbatim({ content: [] })],
    ["run_chain", { steps: [echo, echo], include_tools: true, include_backends: true }],
    ["run_chain", { steps: [echo], dry_run: true }],
    ["run_chain", { steps: [{ tool_id: "a:fail" }, echo], on_error: "continue", parallel: true }],
    ["execute_code", { language: "javascript", code: "await tools.a.add({ a: 1, b: 2 })" }],
  ];
  for (const [name, args] of good) expect((await call(name, args)).isError ?? false, name).toBe(false);
  const bad: readonly (readonly [string, Record<string, unknown>])[] = [
    ["search_tools", { query: "" }],
    ["list_tools", { namespace: "none" }],
    ["describe_tool", { tool_id: "down:x", detail_level: "full" }],
    ["run_tool", { tool_id: "a:is_error" }],
    ["run_chain", { steps: [{ tool_id: "a:fail" }] }],
    ["execute_code", { language: "javascript", code: "null.x" }],
  ];
  for (const [name, args] of bad) {
    const { isError, structuredContent } = await call(name, args);
    expect([isError, structuredContent["error"]], name).toEqual([
      true,
      expect.objectContaining({ code: expect.any(String) }),
    ]);
  }
  const { content } = await call("run_tool", { tool_id: "a:big", args: { bytes: 200_000 } });
  const { uri = "" } = content.find(({ type }) => type === "resource_link") ?? {};
  expect(await client.readResource({ uri })).toHaveProperty("contents");
});
