/**
 * An official server over HTTP with one session per client. Its tool runs as a task and sends an elicitation.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { atEnd } from "./shared.ts";

function interviewer(taskStore: InMemoryTaskStore): McpServer {
  const server = new McpServer(
    { name: "interviewer", version: "1" },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore,
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  server.experimental.tasks.registerToolTask(
    "interview",
    { description: "Asks for a name.", execution: { taskSupport: "optional" } },
    {
      async createTask({ taskStore: store, taskRequestedTtl, sendRequest }) {
        const task = await store.createTask({ ttl: taskRequestedTtl ?? null, pollInterval: 50 });
        const params = { message: "Name?", requestedSchema: { type: "object" as const, properties: {} } };
        void sendRequest({ method: "elicitation/create", params }, ElicitResultSchema, {
          relatedTask: { taskId: task.taskId },
        } as object).then(async ({ action }) => {
          const content = [{ type: "text" as const, text: action }];
          await store.storeTaskResult(task.taskId, "completed", { content });
        });
        return { task };
      },
      getTask: ({ taskStore: store, taskId }) => store.getTask(taskId),
      getTaskResult: async ({ taskStore: store, taskId }) =>
        (await store.getTaskResult(taskId)) as { content: [] },
    },
  );
  return server;
}

/** Starts the server and returns its URL. The server ends with the test. */
export async function taskServer(): Promise<string> {
  const taskStore = new InMemoryTaskStore();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    if (known) return await known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await interviewer(taskStore).connect(transport);
    await transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(() => {
    taskStore.cleanup();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
