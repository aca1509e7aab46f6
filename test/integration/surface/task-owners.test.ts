/** Who owns a task, how long it lives, and tasks for callers that do not support them. */
import { describe, expect, test } from "vitest";
import { legacyHttp } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { httpGateway } from "../../support/http-gateway.ts";
import type { Journal } from "../../support/journal.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { taskClient } from "../../support/tasks.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Json = Record<string, unknown>;

function writeJobs(folder: Temp, more: object = {}): void {
  folder.writeConfig({ jobs: { ...fixture("--tasks", "--journal", folder.journal().file), ...more } });
}

async function start(client: RawClient, args: Json, more: Json = {}): Promise<string> {
  const call = { name: "mcp_call", arguments: { server: "jobs", tool: "job", args }, task: {}, ...more };
  const { result, error } = await client.request("tools/call", call);
  if (!result?.["task"]) throw new Error(JSON.stringify(error ?? result));
  return (result["task"] as Json)["taskId"] as string;
}

const statusEvents = (folder: Temp): Json[] =>
  folder
    .journal()
    .events()
    .filter(({ event }) => (event as string) === "task") as unknown as Json[];

test("a task is unknown to other clients, which receive neither its notifications nor its questions", async () => {
  const folder = temp();
  writeJobs(folder);
  const server = await httpGateway(folder);
  const [anna, bob] = await Promise.all([
    legacyHttp(server, { elicitation: {} }),
    legacyHttp(server, { elicitation: {} }),
  ]);
  const [hers, his] = [taskClient(anna, false), taskClient(bob, false)];
  // Bob has the only running call when Anna's task asks.
  const waiting = { server: "jobs", tool: "job", args: { until: folder.path("gate") } };
  const questions: string[] = [];
  const call = bob.request("tools/call", { name: "mcp_call", arguments: waiting }, ({ method }) => {
    questions.push(method);
    return undefined;
  });
  await folder.journal().until((journal) => journal.events("message").some(({ tool }) => tool === "job"));
  const job = { server: "jobs", tool: "job", args: { ask: "at-once", tell: true } };
  const { taskId } = (await hers.start("mcp_call", job)) as { taskId: string };
  await until(async () => (await hers.get(taskId))["status"] === "input_required");

  const never = await bob.request("tasks/get", { taskId: "no-such-task" });
  expect(never.error?.code).toBe(-32602);
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
    const { error } = await bob.request(method, { taskId });
    expect(error, method).toEqual(never.error);
  }
  const lists = await Promise.all([anna, bob].map((client) => client.request("tasks/list", {})));
  expect(lists.map(({ result }) => (result?.["tasks"] as Json[]).map((task) => task["taskId"]))).toEqual([
    [taskId],
    [],
  ]);
  folder.write("gate", "");
  expect((await call).result).toMatchObject({ isError: false });
  expect([questions, (await call).notifications]).toEqual([[], []]);
  const { result } = await hers.result(taskId, () => ({ action: "accept", content: { name: "anna" } }));
  expect(result?.["structuredContent"]).toMatchObject({ answer: { content: { name: "anna" } } });
  await expect(his.get(taskId)).rejects.toThrow("Task not found");
  await server.stop();
});

test("while a task of one client runs, questions of another client's call reach that client", async () => {
  const folder = temp();
  writeJobs(folder);
  const server = await httpGateway(folder);
  const [anna, bob] = await Promise.all([
    legacyHttp(server, { elicitation: {} }),
    legacyHttp(server, { elicitation: {} }),
  ]);
  const job = { server: "jobs", tool: "job", args: { until: folder.path("gate") } };
  const { taskId } = (await taskClient(anna, false).start("mcp_call", job)) as { taskId: string };
  const call = { name: "mcp_call", arguments: { server: "jobs", tool: "ask", args: {} } };
  const { result } = await bob.request("tools/call", call, () => ({ action: "decline" }));
  expect(result?.["structuredContent"]).toEqual({ answer: { action: "decline" } });
  expect(folder.journal().pids()).toHaveLength(1);
  folder.write("gate", "");
  expect((await taskClient(anna, false).result(taskId)).result).toMatchObject({ isError: false });
  await server.stop();
});

test("notifications of a task reach its client under the task's id", async () => {
  const folder = temp();
  writeJobs(folder);
  const client = gateway(folder);
  await client.initialize();
  const gate = folder.path("gate");
  const _meta = { progressToken: "mine" };
  const taskId = await start(client, { steps: 2, until: gate, tell: true }, { _meta });
  folder.write("gate", "");
  const received = (method: string) => client.notifications.filter((message) => message.method === method);
  await client.until(() => received("notifications/tasks/status").length > 0);
  expect(received("notifications/tasks/status").map(({ params }) => params)).toMatchObject([
    { taskId, status: "completed" },
  ]);
  expect(received("notifications/progress").map(({ params }) => params)).toEqual(
    [1, 2].map((progress) => ({
      progressToken: "mine",
      progress,
      _meta: { "io.modelcontextprotocol/related-task": { taskId } },
    })),
  );
  await client.close();
});

test("payloads of a task are unchanged except for its id", async () => {
  const folder = temp();
  writeJobs(folder);
  const client = gateway(folder);
  await client.initialize();
  const created = await client.request("tools/call", {
    name: "mcp_call",
    arguments: { server: "jobs", tool: "job", args: {} },
    task: { ttl: 12_345 },
  });
  expect(created.raw.toString()).toContain('"x-future":12345678901234567890');
  expect(created.result).toMatchObject({
    task: { ttl: 12_345, pollInterval: 30 },
    _meta: { "x/immediate": "It takes a while." },
  });
  const { taskId } = created.result?.["task"] as { taskId: string };
  const result = await client.request("tasks/result", { taskId });
  expect(result.raw.toString()).toContain('"n":12345678901234567890');
  expect(result.raw.toString()).toContain('"x/own":98765432109876543210');
  expect(result.result?.["_meta"]).toMatchObject({ "io.modelcontextprotocol/related-task": { taskId } });
  const state = await client.request("tasks/get", { taskId });
  expect(state.raw.toString()).toContain('"x-future":12345678901234567890');
  expect(state.result?.["statusMessage"]).toBe("It is over.");
  await client.close();
});

test("a task keeps its connection while it runs, and its result is available after the connection ended", async () => {
  const folder = temp();
  writeJobs(folder, { lifecycle: "ephemeral" });
  const client = gateway(folder);
  await client.initialize();
  const gate = folder.path("gate");
  const taskId = await start(client, { until: gate, message: "kept" });
  // Other calls start and end meanwhile. Without the task the process would end with them.
  const before = await client.mcpCall("jobs", "pid");
  const after = await client.mcpCall("jobs", "pid");
  expect(after["content"]).toEqual(before["content"]);
  expect(folder.journal().pids()).toHaveLength(1);

  folder.write("gate", "");
  await folder.journal().until((journal) => journal.events("eof").length > 0);
  const { result } = await client.request("tasks/result", { taskId });
  expect(result).toMatchObject({ content: [{ type: "text", text: "kept" }] });
  expect(folder.journal().pids()).toHaveLength(1);
  await client.close();
});

test("the end of a session cancels its tasks", async () => {
  const folder = temp();
  writeJobs(folder);
  const server = await httpGateway(folder);
  const session = await server.open();
  const call = { name: "mcp_call", arguments: { server: "jobs", tool: "job", args: { until: "/never" } } };
  await (await server.post({ id: 1, method: "tools/call", params: { ...call, task: {} } }, session)).text();
  await fetch(server.url, { method: "DELETE", headers: session });
  await folder.journal().until(() => statusEvents(folder).some(({ status }) => status === "cancelled"));
  await server.stop();
});

test("mcp_call runs a tool without task support as a task of our own, and the aggregate surface rejects it", async () => {
  const folder = temp();
  writeJobs(folder);
  const client = gateway(folder);
  await client.initialize({ elicitation: {} });
  const call = (tool: string, args: Json): Json => ({
    name: "mcp_call",
    arguments: { server: "jobs", tool, args },
    task: { ttl: 5_000 },
  });
  for (const tool of ["echo", "job_forbidden"]) {
    const { result } = await client.request("tools/call", call(tool, { message: "hi" }));
    expect(result?.["task"]).toMatchObject({ status: "working", ttl: 5_000 });
    const { taskId } = result?.["task"] as { taskId: string };
    expect((await client.request("tasks/result", { taskId })).result).toMatchObject({
      content: [{ type: "text", text: "hi" }],
    });
    expect((await client.request("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
  }
  // The call can ask like a task.
  const { result } = await client.request("tools/call", call("ask", {}));
  const { taskId } = result?.["task"] as { taskId: string };
  await until(
    async () => (await client.request("tasks/get", { taskId })).result?.["status"] === "input_required",
  );
  client.reply = () => ({ result: { action: "decline" } });
  expect((await client.request("tasks/result", { taskId })).result).toMatchObject({
    structuredContent: { answer: { action: "decline" } },
  });
  // A call of an unknown tool fails as a task, and a tool of our own is rejected immediately.
  const missing = await client.request("tools/call", call("no_such_tool", {}));
  const gone = (missing.result?.["task"] as { taskId: string }).taskId;
  expect((await client.request("tasks/result", { taskId: gone })).result).toMatchObject({ isError: true });
  const other = await client.request("tools/call", { name: "mcp_discover", arguments: {}, task: {} });
  expect(other.error?.code).toBe(-32601);
  await client.close();

  const aggregate = gateway(folder, { flags: ["--surface", "aggregate"] });
  await aggregate.initialize();
  await aggregate.request("tools/list");
  const refused = await aggregate.request("tools/call", { name: "jobs__echo", arguments: {}, task: {} });
  expect(refused.error?.code).toBe(-32601);
  await aggregate.close();
});

describe("a tool that runs only as a task, called without task support", () => {
  test("reports progress, and is cancelled when its call is cancelled", async () => {
    const folder = temp();
    writeJobs(folder);
    const client = gateway(folder, { flags: ["--surface", "aggregate"] });
    await client.initialize();
    const call = client.tool("jobs__job_required", { steps: 2, message: "done" }, { progressToken: 7 });
    expect(await call).toMatchObject({ content: [{ text: "done" }] });
    const progress = client.notifications.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => params)).toEqual(
      [1, 2].map((n) => ({ progressToken: 7, progress: n })),
    );

    void client.request("tools/call", { name: "jobs__job_required", arguments: { until: "/never" } });
    await folder.journal().until((journal) => journal.methods().filter((m) => m === "tasks/get").length > 1);
    client.notify("notifications/cancelled", { requestId: client.lastId });
    await folder.journal().until(() => statusEvents(folder).some(({ status }) => status === "cancelled"));
    await client.close();
  });

  test("is polled at its own interval, also if that is longer than the timeout of a call", async () => {
    const folder = temp();
    const [often, rarely] = [folder.journal("often"), folder.journal("rarely")];
    folder.writeConfig({
      often: { ...fixture("--tasks", "--poll", "700", "--journal", often.file), timeoutMs: 400 },
      rarely: fixture("--tasks", "--poll", "50000", "--journal", rarely.file),
    });
    const client = gateway(folder);
    await client.initialize();
    const polls = (journal: Journal) => journal.methods().filter((method) => method === "tasks/get").length;
    client.mcpCall("rarely", "job_required", { until: "/never" }).catch(() => {});
    const waiting = client.lastId;
    await rarely.until(() => rarely.methods().includes("tools/call"));
    const gate = folder.path("gate");
    const call = client.mcpCall("often", "job_required", { until: gate, message: "patient" });
    await often.until(() => polls(often) >= 2);
    expect(polls(rarely)).toBe(0);
    folder.write("gate", "");
    expect(await call).toMatchObject({ content: [{ text: "patient" }] });
    client.notify("notifications/cancelled", { requestId: waiting });
    await client.close();
  });

  test("returns its result to code, to run_tool and to chains", async () => {
    const folder = temp();
    writeJobs(folder);
    const meta = gateway(folder);
    await meta.initialize();
    const code = 'const a = await tools.jobs.job_required({message: "in code"}); return a.n !== undefined';
    expect(await meta.tool("mcp_execute", { code })).toMatchObject({ structuredContent: { value: true } });
    await meta.close();
    const metatools = gateway(folder, { flags: ["--surface", "metatools"] });
    await metatools.initialize();
    const tool_id = "jobs:job_required";
    expect(await metatools.tool("run_tool", { tool_id })).toMatchObject({
      structuredContent: { structured: { answer: null } },
    });
    const steps = [{ tool_id }, { tool_id }];
    const chain = await metatools.tool("run_chain", { steps });
    expect(chain).toMatchObject({ structuredContent: { final: { answer: null } } });
    await metatools.close();
  });
});
