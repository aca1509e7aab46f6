/**
 * What one replica keeps for a client, asked for at another one: parked calls, tasks and stored results. And
 * what becomes of it when its replica dies.
 */

import { writeFileSync } from "node:fs";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { envelope, era2026Headers } from "../../support/eras.ts";
import { HEADERS, messages } from "../../support/http-gateway.ts";
import { RawSession, replicas, Stream, type Team } from "../../support/replica-team.ts";
import { inStep, onPostgres, request2026 } from "../../support/replicas.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Three = [TeamProcess, TeamProcess, TeamProcess];
type Json = Record<string, unknown>;

const TASKS = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const BIG = { name: "mcp_call", arguments: { server: "fix", tool: "big", args: { bytes: 200_000 } } };
const NO_PAUSE = ["--drain", "0"];

/** Three replicas with a server that has tasks, and the endpoints `team` and `meta`. */
async function three(): Promise<Team & { readonly replicas: readonly TeamProcess[] }> {
  const team = await replicas(3, NO_PAUSE, { server: ["--tasks"] });
  const [one] = team.replicas as Three;
  await one.api("POST", "/endpoints", { name: "meta", namespaces: ["team"], surface: "meta" });
  for (const endpoint of ["team", "meta"]) await inStep(team.replicas, team.key, endpoint);
  return team;
}

const ask = (team: Team, at: TeamProcess, more: Json = {}, key = team.key) =>
  request2026(at, "team", key, "tools/call", { name: "fix__ask", arguments: {}, ...more });

/** The answer to all questions of a result. */
function answerTo({ requestState, inputRequests }: { requestState: string; inputRequests: object }): Json {
  const names = Object.keys(inputRequests);
  const accepted = { action: "accept", content: { name: "Ada" } };
  return { requestState, inputResponses: Object.fromEntries(names.map((name) => [name, accepted])) };
}

const calls = ({ journal }: Team, name: string): number =>
  journal.events("message").filter(({ method, tool }) => method === "tools/call" && tool === name).length;

const task2026 = (team: Team, at: TeamProcess, method: string, params: Json) =>
  request2026(at, "team", team.key, method, params, TASKS);

/** Starts a task that runs until the file exists. */
async function startTask(team: Team, at: TeamProcess, args: Json): Promise<string> {
  const { result } = await task2026(team, at, "tools/call", { name: "fix__job_required", arguments: args });
  expect(result.resultType).toBe("task");
  return result.taskId;
}

async function storeResult(team: Team, at: TeamProcess): Promise<string> {
  const { result } = await request2026(at, "meta", team.key, "tools/call", BIG);
  return /metamcp:\/\/result\/[\w.-]+/.exec(JSON.stringify(result))?.[0] ?? "";
}

const readResult = (team: Team, at: TeamProcess, uri: string) =>
  request2026(at, "meta", team.key, "resources/read", { uri });

async function listen(team: Team, at: TeamProcess, notifications: Json): Promise<Stream> {
  const params = { notifications, _meta: envelope(TASKS) };
  const method = "subscriptions/listen";
  const stopping = new AbortController();
  const response = await fetch(`${at.url}/metamcp/team/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": team.key, ...era2026Headers(method, params) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: stopping.signal,
  });
  return new Stream(response, stopping);
}

onPostgres("what another replica keeps", () => {
  const made = shared(three);

  test("a parked call goes on, once", async () => {
    const team = made();
    const [one, two, three] = team.replicas as Three;
    const before = calls(team, "ask");
    const asked = await ask(team, one);
    const answer = answerTo(asked.result);
    for (const foreign of [
      await ask(team, two, answer, await two.key()),
      await ask(team, two, { ...answer, arguments: { message: "other" } }),
    ])
      expect(foreign.error?.message).toContain("belongs to another request");
    const answers = await Promise.all([two, three, two, three].map((at) => ask(team, at, answer)));
    expect(answers.filter(({ result }) => result?.content[0].text === "answered")).toHaveLength(1);
    for (const { error } of answers.filter(({ result }) => !result))
      expect(error?.message).toContain("already used or has expired");
    expect(calls(team, "ask")).toBe(before + 1);
  });

  test("an official client of 2026-07-28 is asked and answers through all in turn", async () => {
    const team = made();
    const before = calls(team, "ask");
    let turn = 0;
    const [one] = team.replicas as Three;
    const inTurn = (address: string | URL, init?: RequestInit): Promise<Response> =>
      fetch(String(address).replace(one.url, (team.replicas[turn++ % 3] as TeamProcess).url), init);
    const client = new ClientV2(
      { name: "in-turn", version: "1.0.0" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
    const url = new URL(`${one.url}/metamcp/team/mcp`);
    const options = { fetch: inTurn, requestInit: { headers: { "x-api-key": team.key } } };
    await client.connect(new StreamableV2(url, options));
    atEnd(() => client.close());
    for (let n = 1; n <= 4; n++) {
      const { content } = (await client.callTool({ name: "fix__ask", arguments: {} })) as {
        content: { text: string }[];
      };
      expect(content[0]?.text).toBe("answered");
      expect(calls(team, "ask")).toBe(before + n);
    }
  });

  test("a task is read, answered, watched and cancelled", async () => {
    const team = made();
    const [one, two, three] = team.replicas as Three;
    const file = temp().path("go");
    const taskId = await startTask(team, one, { until: file, ask: "at-once", message: "who?" });
    const state = await until(async () => {
      const { result } = await task2026(team, two, "tasks/get", { taskId });
      return result.status === "input_required" ? result : undefined;
    });
    const watching = await listen(team, three, { taskIds: [taskId] });
    const { params } = await watching.next("notifications/subscriptions/acknowledged");
    expect(params.notifications).toEqual({ taskIds: [taskId] });
    const { inputResponses } = answerTo({ requestState: "", inputRequests: state.inputRequests });
    await task2026(team, three, "tasks/update", { taskId, inputResponses });
    await until(async () => (await task2026(team, two, "tasks/get", { taskId })).result.status === "working");
    writeFileSync(file, "");
    await until(
      async () => (await task2026(team, two, "tasks/get", { taskId })).result.status === "completed",
    );
    await until(() => watching.messages.some((told) => told.params?.status === "completed"));
    watching.close();

    const endless = await startTask(team, one, { until: temp().path("never") });
    await task2026(team, two, "tasks/cancel", { taskId: endless });
    expect((await task2026(team, three, "tasks/get", { taskId: endless })).result.status).toBe("cancelled");
    const foreign = await request2026(two, "team", await two.key(), "tasks/get", { taskId: endless }, TASKS);
    expect(foreign.error?.message).toBe("Task not found or expired");
  });

  test("a task of a client with a session belongs to all its sessions, at any replica", async () => {
    const team = made();
    const [one, two, three] = team.replicas as Three;
    const [creator, reader] = [new RawSession(team.key), new RawSession(team.key)];
    await creator.open(one);
    await reader.open(two);
    const file = temp().path("go");
    const answerOf = async (response: Promise<Response>) => {
      const text = await (await response).text();
      return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
    };
    const create = (session: RawSession, at: TeamProcess) =>
      answerOf(
        session.request(at, "tools/call", {
          name: "fix__job",
          arguments: { until: file, message: "done" },
          task: { ttl: 60_000 },
        }),
      );
    const { taskId } = (await create(creator, three)).result.task;
    const own = (await create(reader, two)).result.task.taskId;
    for (const at of [one, two, three])
      expect((await answerOf(reader.request(at, "tasks/get", { taskId }))).result.status).toBe("working");
    const listed = await answerOf(reader.request(three, "tasks/list"));
    const ids = listed.result.tasks.map((task: { taskId: string }) => task.taskId);
    expect(ids).toEqual(expect.arrayContaining([taskId, own]));
    const result = answerOf(reader.request(three, "tasks/result", { taskId }));
    writeFileSync(file, "");
    expect((await result).result.content[0].text).toBe("done");
    const foreign = await new RawSession(await two.key()).open(two);
    expect((await answerOf(foreign.request(two, "tasks/get", { taskId }))).error.message).toBe(
      "Task not found or expired",
    );
  });

  test("a stored result is read anywhere, by its tool and by code too, with and without a session", async () => {
    const team = made();
    const [one, two, three] = team.replicas as Three;
    const uri = await storeResult(team, one);
    const here = await readResult(team, one, uri);
    expect(here.result.contents).toHaveLength(1);
    for (const at of [two, three]) expect((await readResult(team, at, uri)).result).toEqual(here.result);
    const read = { name: "mcp_call", arguments: { server: "metamcp", tool: "read", args: { uri } } };
    const byTool = await request2026(two, "meta", team.key, "tools/call", read);
    expect(byTool.result.isError).not.toBe(true);
    const code = `const whole = await read(${JSON.stringify(uri)}); return JSON.stringify(whole).length;`;
    const byCode = await request2026(two, "meta", team.key, "tools/call", {
      name: "mcp_execute",
      arguments: { code },
    });
    expect(JSON.stringify(byCode.result)).toMatch(/\d{6}/);
    const session = await new RawSession(team.key, "meta").open(one);
    const [ofSession] =
      /metamcp:\/\/result\/[\w.-]+/.exec(await session.call(two, BIG.name, BIG.arguments)) ?? [];
    const contents = await messages(await session.request(three, "resources/read", { uri: ofSession }));
    expect(contents.at(-1)).toMatchObject({ result: { contents: [{ uri: ofSession }] } });
    const foreign = await request2026(two, "meta", await two.key(), "resources/read", { uri });
    expect(foreign.error?.message).toContain("not found or expired");
  });

  test("a replica that lives and cannot be reached gives 503, and later the answer", async () => {
    const team = made();
    const [one, two] = team.replicas as Three;
    const asked = await ask(team, one);
    const answer = answerTo(asked.result);
    const [row] = await team.database.sql("SELECT id, address FROM metamcp_replicas ORDER BY since LIMIT 1");
    const move = (address: unknown) =>
      team.database.sql(`UPDATE metamcp_replicas SET address = '${address}' WHERE id = '${row?.["id"]}'`);
    const addressAt = async () =>
      (await two.api("GET", "/replicas")).body.items.find(({ id }: { id: string }) => id === row?.["id"])
        ?.address;
    await move("127.0.0.1:1");
    await until(async () => (await addressAt()) === "127.0.0.1:1");
    const refused = await ask(team, two, answer);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await move(row?.["address"]);
    await until(async () => (await addressAt()) === row?.["address"]);
    expect((await ask(team, two, answer)).result.content[0].text).toBe("answered");
  });

  test("what a dead replica kept has a clear end, and nothing runs again", async () => {
    const team = made();
    const [one, two] = team.replicas as Three;
    const asked = await ask(team, one);
    const taskId = await startTask(team, one, { until: temp().path("never") });
    const uri = await storeResult(team, one);
    const before = [calls(team, "ask"), calls(team, "job_required"), calls(team, "big")];
    await one.kill("SIGKILL");
    const [parked, state, result] = await Promise.all([
      ask(team, two, answerTo(asked.result)),
      task2026(team, two, "tasks/get", { taskId }),
      readResult(team, two, uri),
    ]);
    expect(parked.error?.message).toMatch(/replica .* is gone.* make it again without requestState/);
    expect(state.result).toMatchObject({
      taskId,
      status: "failed",
      statusMessage: expect.stringContaining("is gone"),
      error: { message: expect.stringContaining("may have run") },
    });
    expect(result.error?.message).toMatch(/^Stored result expired: .* is gone/);
    expect([calls(team, "ask"), calls(team, "job_required"), calls(team, "big")]).toEqual(before);
    const again = await ask(team, two);
    expect((await ask(team, two, answerTo(again.result))).result.content[0].text).toBe("answered");
  });
});
