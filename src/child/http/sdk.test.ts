import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { remoteSpec } from "../../../test/support/http-child.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { type Incoming, Peer, type Via } from "../../rpc/peer.ts";
import type { ChildFailure, Link } from "../link.ts";
import { createHttpConnector } from "./connector.ts";

/** A server with one tool that reports progress, asks the client a question, and returns the answer. */
function interview(): McpServer {
  const server = new McpServer({ name: "sdk", version: "1" });
  server.registerTool(
    "interview",
    { description: "asks back" },
    async ({ _meta, sendNotification, sendRequest }) => {
      const progressToken = _meta?.progressToken ?? "none";
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 2 },
      });
      const params = { message: "name?", requestedSchema: { type: "object" as const, properties: {} } };
      const { action } = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
      return { content: [{ type: "text", text: action }] };
    },
  );
  return server;
}

async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

interface Session {
  readonly peer: Peer;
  readonly link: Link;
  readonly asked: { method: string; via: Via }[];
  readonly notified: string[];
  readonly closed: ChildFailure[];
}

async function connect(url: string, kind: "http" | "sse"): Promise<Session> {
  const asked: Session["asked"] = [];
  const notified: string[] = [];
  const closed: ChildFailure[] = [];
  const onRequest = ({ method, via }: Incoming): Promise<Raw> => {
    asked.push({ method, via });
    return Promise.resolve(toRaw({ action: "accept", content: {} }));
  };
  const peer = new Peer((message, via) => link.send(message, via), {
    onRequest,
    onNotification: (method) => void notified.push(method),
  });
  const connector = createHttpConnector({ log: silentLog, clock: systemClock, maxMessageBytes: 1 << 20 });
  const events = {
    onMessage: peer.receive.bind(peer),
    onFailed: peer.fail.bind(peer),
    onClosed: (failure: ChildFailure) => {
      closed.push(failure);
      peer.destroy(failure);
    },
  };
  const link = await connector.open(remoteSpec(url, { kind }), events, new AbortController().signal);
  onTestFinished(() => link.close());
  const greeting = await peer.request(
    "initialize",
    toRaw({
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {} },
      clientInfo: { name: "test", version: "1" },
    }),
  );
  link.agreed((fromRaw(greeting) as { protocolVersion: string }).protocolVersion);
  peer.notify("notifications/initialized", undefined);
  return { peer, link, asked, notified, closed };
}

/** Lists tools, makes a call with progress and answers its question. Returns the id of the call. */
async function useIt({ peer }: Session): Promise<number | undefined> {
  const list = fromRaw(await peer.request("tools/list", undefined)) as { tools: { name: string }[] };
  expect(list.tools.map(({ name }) => name)).toEqual(["interview"]);

  const progress: unknown[] = [];
  let id: number | undefined;
  const params = toRaw({ name: "interview", arguments: {}, _meta: { progressToken: "tok" } });
  const result = await peer.request("tools/call", params, {
    onProgress: (note) => progress.push(fromRaw(note)),
    onSent: (sent) => {
      id = sent;
    },
  });
  expect(fromRaw(result)).toMatchObject({ content: [{ text: "accept" }] });
  expect(progress).toMatchObject([{ progressToken: "tok", progress: 1, total: 2 }]);
  return id;
}

interface Served {
  readonly url: string;
  readonly open: Map<string, StreamableHTTPServerTransport>;
  /** The `Last-Event-ID` of each GET. */
  readonly resumed: (string | undefined)[];
}

async function streamable(server: McpServer, options: { retryInterval?: number } = {}): Promise<Served> {
  const open: Served["open"] = new Map();
  const resumed: Served["resumed"] = [];
  const url = await serve(async (request, response) => {
    if (request.method === "GET") resumed.push(request.headers["last-event-id"] as string | undefined);
    const known = open.get((request.headers["mcp-session-id"] as string | undefined) ?? "");
    if (known) return await known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void open.set(id, transport),
      onsessionclosed: (id) => void open.delete(id),
      ...(options.retryInterval && { eventStore: new InMemoryEventStore(), ...options }),
    });
    await server.connect(transport as Parameters<McpServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  });
  return { url, open, resumed };
}

test("a link works with the official streamable HTTP server", async () => {
  const server = interview();
  const { url, open } = await streamable(server);
  const session = await connect(url, "http");
  const id = await useIt(session);

  expect(session.asked).toEqual([{ method: "elicitation/create", via: id }]);
  await until(() => {
    server.sendToolListChanged();
    return session.notified.includes("notifications/tools/list_changed");
  });
  await session.link.close();
  expect(open.size).toBe(0);
  expect(session.closed).toEqual([]);
});

test("a link works with the official streamable HTTP server if it closes streams and lets clients poll", async () => {
  const server = interview();
  const called = new Set<() => void>();
  server.registerTool("poll", {}, async ({ closeSSEStream }) => {
    closeSSEStream?.();
    await new Promise<void>((answer) => called.add(answer));
    return { content: [{ type: "text", text: "polled" }] };
  });
  const { url, resumed } = await streamable(server, { retryInterval: 20 });
  const { peer } = await connect(url, "http");
  const answer = peer.request("tools/call", toRaw({ name: "poll", arguments: {} }));
  await until(() => resumed.some((id) => id !== undefined));
  for (const finish of called) finish();

  expect(fromRaw(await answer)).toMatchObject({ content: [{ text: "polled" }] });
});

test("a link works with the official SSE server", async () => {
  const open = new Map<string, SSEServerTransport>();
  const url = await serve(async (request, response) => {
    const id = new URL(request.url ?? "", "http://x").searchParams.get("sessionId");
    if (request.method === "POST") return await open.get(id ?? "")?.handlePostMessage(request, response);
    const transport = new SSEServerTransport("/messages", response);
    open.set(transport.sessionId, transport);
    await interview().connect(transport);
  });
  const session = await connect(url, "sse");
  await useIt(session);

  expect(session.asked).toEqual([{ method: "elicitation/create", via: undefined }]);
  await open.values().next().value?.close();
  await until(() => session.closed.length === 1);
  await expect(session.peer.request("ping", undefined)).rejects.toMatchObject({ category: "offline" });
});
