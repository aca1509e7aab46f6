/**
 * The official client with support for tasks, in front of the official server, which has a tool that runs
 * only as a task.
 */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { httpGateway } from "../support/http-gateway.ts";
import { connect as connectSdk, SDKS } from "../support/sdk-clients.ts";
import { taskServer } from "../support/task-server.ts";
import { ROOT, type Temp, temp } from "../support/temp.ts";

const SCRIPT = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const SURFACES = ["meta", "aggregate"] as const;
const FRONTS = ["stdio", "streamable"] as const;

function everything(): Temp {
  const folder = temp();
  folder.writeConfig({ everything: { command: process.execPath, args: [SCRIPT] } });
  return folder;
}

function research(
  surface: (typeof SURFACES)[number],
  args: object,
): { name: string; arguments: Record<string, unknown> } {
  if (surface === "aggregate") return { name: "everything__simulate-research-query", arguments: { ...args } };
  return { name: "mcp_call", arguments: { server: "everything", tool: "simulate-research-query", args } };
}

async function connect(
  front: (typeof FRONTS)[number],
  surface: string,
  folder = everything(),
): Promise<{ client: Client; asked: string[] }> {
  const flags = ["--surface", surface];
  const command = [join(ROOT, "dist/metamcp.js"), "--config", folder.config, ...flags];
  const transport =
    front === "stdio"
      ? new StdioClientTransport({
          command: process.execPath,
          args: command,
          env: { ...folder.env },
          stderr: "ignore",
        })
      : new StreamableHTTPClientTransport(new URL((await httpGateway(folder, ...flags)).url));
  const client = new Client(
    { name: "tasks", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } } },
  );
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { interpretation: "snake" } };
  });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  return { client, asked };
}

for (const front of FRONTS)
  test.each(SURFACES)(
    `over ${front} a client creates, follows, answers, fetches, lists and cancels tasks (%s)`,
    async (surface) => {
      const { client, asked } = await connect(front, surface);
      expect(client.getServerCapabilities()?.tasks).toEqual({
        list: {},
        cancel: {},
        requests: { tools: { call: {} } },
      });
      const { tools } = await client.listTools();
      const { name } = research(surface, {});
      const listed = tools.find((tool) => tool.name === name);
      expect(listed?.execution?.taskSupport).toBe(surface === "meta" ? "optional" : "required");

      const seen: string[] = [];
      const messages: unknown[] = [];
      const call = research(surface, { topic: "python", ambiguous: true });
      for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema)) {
        seen.push(message.type);
        if (message.type === "taskStatus") messages.push(message.task.statusMessage);
        if (message.type === "error") throw message.error;
        if (message.type === "result") {
          expect(JSON.stringify(message.result)).toContain("python (snake)");
          expect(message.result._meta?.["io.modelcontextprotocol/related-task"]).toBeDefined();
        }
      }
      expect(seen[0]).toBe("taskCreated");
      expect(seen.at(-1)).toBe("result");
      // The only state that lasts until it has been read.
      expect(messages).toContainEqual(expect.stringMatching(/^Found multiple interpretations/));
      expect(asked).toHaveLength(1);

      const stream = client.experimental.tasks.callToolStream(
        research(surface, { topic: "rust" }),
        CallToolResultSchema,
      );
      const first = (await stream.next()).value;
      if (first?.type !== "taskCreated") throw new Error(JSON.stringify(first));
      const { taskId } = first.task;
      const list = await client.experimental.tasks.listTasks();
      expect(list.tasks.map((task) => [task.taskId === taskId, task.status])).toEqual([
        [false, "completed"],
        [true, "working"],
      ]);
      expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({
        taskId,
        status: "cancelled",
      });
      await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toThrow("already ended");
      await expect(client.experimental.tasks.getTask("no-such-task")).rejects.toThrow("Task not found");
    },
  );

test("mcp_call runs a tool without task support as a task for a client that always requests tasks", async () => {
  const { client } = await connect("stdio", "meta");
  await client.listTools();
  const call = {
    name: "mcp_call",
    arguments: { server: "everything", tool: "echo", args: { message: "hi" } },
  };
  const types: string[] = [];
  for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema)) {
    types.push(message.type);
    if (message.type === "result")
      expect(message.result.content).toEqual([{ type: "text", text: "Echo: hi" }]);
  }
  expect(types.at(-1)).toBe("result");
});

test.each(SDKS)("%s, which does not use tasks, waits for the result", async (sdk) => {
  const client = await connectSdk(sdk, "stdio", everything());
  const { name, arguments: args } = research("aggregate", { topic: "rust" });
  const called = await client.call(name, args);
  expect(called.content[0]?.text).toContain("# Research Report: rust");
  await client.close();
});

test.each(FRONTS)("the task of an official server over HTTP asks the client (%s)", async (front) => {
  const folder = temp();
  folder.writeConfig({ remote: { url: await taskServer() } });
  const { client, asked } = await connect(front, "aggregate", folder);
  await client.listTools();
  const call = { name: "remote__interview", arguments: {} };
  for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema)) {
    if (message.type === "error") throw message.error;
    if (message.type === "result") expect(message.result.content).toEqual([{ type: "text", text: "accept" }]);
  }
  expect(asked).toEqual(["Name?"]);
});
