/**
 * The official SDK in the stateless era on both sides of MetaMCP: as a client and as a child. The SDK must
 * accept every message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  createMcpHandler,
  inputRequired,
  inputResponse,
  type McpHttpHandler,
  McpServer,
} from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { ERA_2026_CHILD } from "../support/eras.ts";
import { httpGateway } from "../support/http-gateway.ts";
import { fixture, ROOT, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** A child of the stateless era with a tool that asks, a prompt and a resource. */
async function sdkChild(): Promise<string> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "sdk-child", version: "2" });
      server.registerTool("greet", { description: "greets who they say they are" }, (ctx) => {
        const who = inputResponse(ctx.mcpReq.inputResponses, "who");
        if (who.kind !== "elicit") {
          const requestedSchema = {
            type: "object" as const,
            properties: { name: { type: "string" as const } },
          };
          return inputRequired({
            inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema }) },
          });
        }
        const { name } = (who.action === "accept" ? who.content : {}) as { name?: string };
        return { content: [{ type: "text", text: `Hello, ${name}!` }] };
      });
      server.registerPrompt("hello", { description: "says hello" }, () => ({
        messages: [{ role: "user", content: { type: "text", text: "hello" } }],
      }));
      server.registerResource("one", "test://one", {}, (uri) => ({
        contents: [{ uri: uri.href, text: "1" }],
      }));
      return server;
    },
    { legacy: "reject" },
  );
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => void answer(handler, incoming, Buffer.concat(parts), outgoing));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Converts between Node's requests and responses and those of the web platform. */
async function answer(
  handler: Pick<McpHttpHandler, "fetch">,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const response = await handler.fetch(
    new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
      ...(body.length > 0 && { body }),
      signal: gone.signal,
    }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const part of response.body ?? []) outgoing.write(part);
  outgoing.end();
}

function era2026Client(): Client {
  const client = new Client(
    { name: "sdk-client", version: "2" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
  onTestFinished(() => client.close());
  return client;
}

async function overHttp(
  folder: Temp,
  ...flags: string[]
): Promise<{ client: Client; stop(): Promise<unknown> }> {
  const server = await httpGateway(folder, ...flags);
  const client = era2026Client();
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  return { client, stop: () => server.stop() };
}

async function overStdio(
  folder: Temp,
  ...flags: string[]
): Promise<{ client: Client; stop(): Promise<unknown> }> {
  const args = [join(ROOT, "dist/metamcp.js"), "--config", folder.config, "--log-level", "error", ...flags];
  const client = era2026Client();
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...folder.env } }));
  return { client, stop: () => client.close() };
}

test.each([
  ["HTTP", overHttp],
  ["stdio", overStdio],
])(
  "over %s a client of the stateless era uses tools, prompts and resources of a child of that era and answers its question",
  async (_, connect) => {
    const folder = temp();
    folder.writeConfig({ sdk: { url: await sdkChild(), prefix: "none" } });
    const { client, stop } = await connect(folder, "--surface", "aggregate");
    expect(client.getServerVersion()?.name).toBe("metamcp");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["greet"]);
    expect(await client.callTool({ name: "greet", arguments: {} })).toMatchObject({
      content: [{ text: "Hello, Ada!" }],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "sdk-child" } },
    });
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["hello"]);
    expect((await client.getPrompt({ name: "hello" })).messages).toHaveLength(1);
    expect((await client.readResource({ uri: "test://one" })).contents).toMatchObject([{ text: "1" }]);
    await expect(client.readResource({ uri: "test://none" })).rejects.toMatchObject({ code: -32602 });
    await stop();
  },
);

test("over HTTP a call of a legacy child that asks the client is executed once", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const { client, stop } = await overHttp(folder);
  const call = (tool: string) =>
    client.callTool({ name: "mcp_call", arguments: { server: "a", tool, args: {} } });
  expect(await call("ask")).toMatchObject({ structuredContent: { answer: { action: "accept" } } });
  expect(journal.events("message").filter(({ tool }) => tool === "ask")).toHaveLength(1);
  await stop();
});

test.each([
  ["HTTP", overHttp],
  ["stdio", overStdio],
])("over %s a listening client is notified of a new tool and of the end of MetaMCP", async (_, connect) => {
  const folder = temp();
  folder.writeConfig({ a: { command: process.execPath, args: [ERA_2026_CHILD] } });
  const { client, stop } = await connect(folder, "--surface", "aggregate");
  const before = (await client.listTools()).tools.length;
  let notifications = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => void notifications++);
  const subscription = await client.listen({ toolsListChanged: true });
  await client.callTool({ name: "a__change", arguments: {} });
  await until(() => notifications > 0, { what: "a change of the list" });
  expect((await client.listTools()).tools).toHaveLength(before + 1);
  expect(notifications).toBe(1);
  await stop();
  expect(["graceful", "local"]).toContain(await subscription.closed);
});
