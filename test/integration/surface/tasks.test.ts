/** Tools that run as tasks, for clients and children of both eras, in every combination. */
import { describe, expect, test } from "vitest";
import {
  CLIENTS,
  type Driver,
  ERA_2026_CHILD,
  envelope,
  era2026HttpChild,
  era2026Stdio,
  open,
} from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { CAPABLE, ENDED, TASKS, type TaskClient, taskClient } from "../../support/tasks.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const CHILDREN = ["legacy", "era2026", "remote"] as const;

async function writeChildren(folder: Temp): Promise<void> {
  folder.writeConfig({
    legacy: fixture("--tasks", "--journal", folder.journal().file),
    era2026: { command: process.execPath, args: [ERA_2026_CHILD, "--tasks"] },
    remote: { url: await era2026HttpChild("--strict", "--tasks") },
  });
}

const byMeta = (server: string, tool: string, args: object) =>
  ["mcp_call", { server, tool, args }] as [string, Record<string, unknown>];
const byAggregate = (server: string, tool: string, args: object) =>
  [`${server}__${tool}`, args] as [string, Record<string, unknown>];

interface Started {
  readonly folder: Temp;
  readonly driver: Driver;
  readonly client: TaskClient;
}

describe.each(CLIENTS)("a %s client", (kind) => {
  const era2026 = kind.startsWith("2026");

  async function start(surface: string): Promise<Started> {
    const folder = temp();
    await writeChildren(folder);
    const driver = await open(kind, folder, CAPABLE, ["--surface", surface]);
    return { folder, driver, client: taskClient(driver, era2026) };
  }

  async function runsTasks({ folder, driver, client }: Started, named: typeof byMeta): Promise<void> {
    for (const server of CHILDREN) {
      // From here on the server is connected and answers immediately.
      const [name, args] = named(server, "echo", { message: "hi" });
      await driver.request("tools/call", { name, arguments: args });
      const gate = folder.path(`gate-${server}`);
      const task = await client.start(...named(server, "job", { until: gate, message: "mine" }));
      expect(task, server).toMatchObject({ status: "working", taskId: expect.any(String) });
      const taskId = task["taskId"] as string;
      expect(taskId, server).not.toContain("task-");
      expect(task[era2026 ? "pollIntervalMs" : "pollInterval"], server).toBe(30);
      expect(await client.get(taskId), server).toMatchObject({ taskId, status: "working" });

      folder.write(`gate-${server}`, "");
      const { result } = await client.result(taskId);
      expect(result, server).toMatchObject({ content: [{ type: "text", text: "mine" }] });
      const last = await client.get(taskId);
      expect(last, server).toMatchObject({ taskId, status: "completed", "x-future": expect.anything() });
    }
  }

  async function answersQuestions({ client }: Started): Promise<void> {
    for (const [server, ask] of [
      ["legacy", "queued"],
      ["legacy", "at-once"],
      ["era2026", "queued"],
      ["remote", "queued"],
    ] as const) {
      const { taskId } = await client.start(...byMeta(server, "job", { ask }));
      await until(async () => (await client.get(taskId as string))["status"] === "input_required");
      const asked: unknown[] = [];
      const { result } = await client.result(taskId as string, ({ method, params }) => {
        asked.push([method, params?.["message"]]);
        const related = (params?.["_meta"] ?? {}) as Record<string, unknown>;
        if (!era2026) expect(related["io.modelcontextprotocol/related-task"]).toEqual({ taskId });
        return { action: "accept", content: { name: "ada" } };
      });
      expect(asked, server).toEqual([["elicitation/create", "Who?"]]);
      expect(result?.["structuredContent"], server).toMatchObject({
        answer: { action: "accept", content: { name: "ada" } },
      });
    }
  }

  async function cancels({ folder, client }: Started): Promise<void> {
    const { taskId } = await client.start(...byMeta("legacy", "job", { until: folder.path("never") }));
    const { result } = await client.cancel(taskId as string);
    if (era2026) expect(result?.["resultType"]).toBe("complete");
    else expect(result).toMatchObject({ taskId, status: "cancelled" });
    expect(await client.get(taskId as string)).toMatchObject({ taskId, status: "cancelled" });
    await folder.journal().until((journal) => journal.methods().includes("tasks/cancel"));
    // A second cancellation is an error in the legacy era and has no effect in the stateless one.
    const again = await client.cancel(taskId as string);
    if (era2026) expect(again.error).toBeUndefined();
    else expect(again.error?.code).toBe(-32602);
  }

  async function seesFailures({ folder, client }: Started): Promise<void> {
    const jobs = (): number =>
      folder
        .journal()
        .events()
        .filter(({ event }) => (event as string) === "job").length;
    const before = jobs();
    const ending = async (end: string): Promise<[Record<string, unknown>, string]> => {
      const gate = folder.path(`gate-${end}`);
      const { taskId } = await client.start(...byMeta("legacy", "job", { end, until: gate }));
      folder.write(`gate-${end}`, "");
      const state = await until(async () => {
        const now = await client.get(taskId as string);
        return ENDED.includes(now["status"] as string) && now;
      });
      return [state, taskId as string];
    };
    const [tool, toolId] = await ending("is_error");
    expect(tool["status"]).toBe(era2026 ? "completed" : "failed");
    expect((await client.result(toolId)).result).toMatchObject({ isError: true });

    const [protocol, protocolId] = await ending("rpc_error");
    // mcp_call turns an error of the child into a result, as for other calls.
    expect(protocol["status"]).toBe(era2026 ? "completed" : "failed");
    expect(JSON.stringify(await client.result(protocolId))).toContain("the job broke");

    const [died, diedId] = await ending("crash");
    expect(died["status"]).toBe(era2026 ? "completed" : "failed");
    expect(died["statusMessage"]).toMatch(/^server_unavailable: legacy: .*exit/);
    expect(JSON.stringify(await client.result(diedId))).toContain("server_unavailable");
    expect(jobs() - before).toBe(3);
  }

  test("runs tools of all children as tasks (aggregate)", async () => {
    const started = await start("aggregate");
    await runsTasks(started, byAggregate);
    await started.driver.close();
  });

  test("runs tools of all children as tasks, answers questions once, cancels, and sees failures (meta)", async () => {
    const started = await start("meta");
    await runsTasks(started, byMeta);
    await answersQuestions(started);
    await cancels(started);
    await seesFailures(started);
    await started.driver.close();
  });

  test("without task support gets the result of a tool that runs only as a task", async () => {
    const folder = temp();
    await writeChildren(folder);
    const driver = await open(kind, folder, { elicitation: {} });
    for (const server of CHILDREN) {
      const [name, args] = byMeta(server, "job_required", { message: "awaited" });
      const { result } = await driver.request("tools/call", { name, arguments: args });
      expect(result, server).toMatchObject({ content: [{ type: "text", text: "awaited" }] });
      expect(JSON.stringify(result), server).not.toContain("related-task");

      const asked: string[] = [];
      const [, asking] = byMeta(server, "job_required", { ask: "queued" });
      const answered = await driver.request("tools/call", { name, arguments: asking }, ({ method }) => {
        asked.push(method);
        return { action: "decline" };
      });
      expect(asked, server).toEqual(["elicitation/create"]);
      expect(answered.result?.["structuredContent"], server).toMatchObject({ answer: { action: "decline" } });

      // A tool with optional task support is run as a call.
      const plain = await driver.request("tools/call", {
        name,
        arguments: byMeta(server, "job", {})[1],
      });
      expect(plain.result, server).toMatchObject({ content: [{ type: "text" }] });
    }
    const { error } = await driver.request("tasks/get", { taskId: "x" });
    expect(error?.code).toBe(era2026 ? -32021 : -32602);
    if (era2026) expect(error?.data).toEqual({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
    await driver.close();
  });
});

test("a listening client of 2026-07-28 receives the status of its own tasks only", async () => {
  const folder = temp();
  await writeChildren(folder);
  const client = gateway(folder);
  const driver = era2026Stdio(client, CAPABLE);
  const task = taskClient(driver, true);
  const gate = folder.path("gate");
  const { taskId } = await task.start(...byMeta("legacy", "job", { until: gate, message: "heard" }));
  const listen = (capabilities: object, taskIds: unknown[]) =>
    client.request("subscriptions/listen", {
      notifications: { taskIds },
      _meta: envelope(capabilities as never),
    });
  const refused = await listen({}, [taskId]);
  expect(refused.error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  });
  void listen(CAPABLE, [taskId, "no-such-task"]);
  const received = (method: string) => client.notifications.filter((said) => said.method === method);
  await client.until(() => received("notifications/subscriptions/acknowledged").length > 0);
  const [acknowledged] = received("notifications/subscriptions/acknowledged");
  expect(acknowledged?.params?.["notifications"]).toEqual({ taskIds: [taskId] });
  folder.write("gate", "");
  await client.until(() => received("notifications/tasks").length > 0);
  expect(received("notifications/tasks").map(({ params }) => params)).toMatchObject([
    { taskId, status: "completed", result: { content: [{ text: "heard" }] } },
  ]);
  await client.close();
});
