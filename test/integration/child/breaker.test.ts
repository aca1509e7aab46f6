/**
 * The circuit breaker: when a server is blocked, which failures count, and how one call tests a blocked
 * server.
 */
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import {
  type Answerer,
  httpChild,
  json,
  result,
  type SeenRequest,
  sessionful,
} from "../../support/http-child.ts";
import type { Journal } from "../../support/journal.ts";
import { attemptsOf, type Failure, failureOf, serverStatus, textOf } from "../../support/meta.ts";
import { gone, kill } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

interface Options {
  readonly threshold: number;
  readonly cooldownMs?: number;
}

async function setUp(servers: Record<string, object>, options: Options): Promise<[RawClient, Temp]> {
  const folder = temp();
  const entries = Object.entries(servers).map(([name, more]) => [
    name,
    "url" in more
      ? more
      : {
          ...fixture("--journal", folder.journal(name).file, "--flags-file", folder.path(`${name}.flags`)),
          ...more,
        },
  ]);
  folder.writeConfig(Object.fromEntries(entries));
  const flags = [
    "--failure-threshold",
    `${options.threshold}`,
    "--cooldown",
    `${options.cooldownMs ?? 600_000}`,
  ];
  const client = gateway(folder, { flags: [...flags, "--log-level", "warn"] });
  return [client, folder];
}

function isBlocked({ code, message, retryAfterMs = 0 }: Failure): boolean {
  return code === "server_unavailable" && /blocked/.test(message) && retryAfterMs > 0;
}

async function blocked(client: RawClient, server: string): Promise<boolean> {
  const outcome = await client.mcpCall(server, "echo", { message: "?" });
  return outcome["isError"] === true && isBlocked(failureOf(outcome));
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

test("a failed connection attempt counts as one failure for all waiting calls and blocks no other server", async () => {
  const [client, folder] = await setUp({ exits: {}, well: {} }, { threshold: 3 });
  folder.write("exits.flags", "--exit-at-once 1");
  await client.initialize();
  for (let batch = 1; batch <= 3; batch++) {
    const outcomes = await Promise.all(times(10, () => client.mcpCall("exits", "echo", { message: "?" })));
    expect(outcomes.map(failureOf).filter(isBlocked)).toEqual([]);
    expect(folder.journal("exits").pids()).toHaveLength(batch);
  }
  const [first, ...others] = await Promise.all(
    times(10, () => client.mcpCall("exits", "echo", { message: "?" })),
  );
  expect(isBlocked(failureOf(first ?? {}))).toBe(true);
  expect(others.map(failureOf).every(isBlocked)).toBe(true);
  expect(failureOf(first ?? {})).toMatchObject({ retryable: true });
  expect(folder.journal("exits").pids()).toHaveLength(3);
  expect((await serverStatus(client, "exits")).reason).toMatch(/blocked.*code 1/s);
  expect(textOf(await client.mcpCall("well", "echo", { message: "still" }))).toBe("still");
  await client.close();
});

test("a crash during many calls counts as one failure, and so does a crash with a failed retry", async () => {
  const [client, folder] = await setUp(
    { never: { retry: "never" }, vital: { criticality: "vital" } },
    { threshold: 2 },
  );
  await client.initialize();
  const journal = folder.journal("never");
  for (let round = 1; round <= 2; round++) {
    const calls = times(10, (n) => client.mcpCall("never", "count", { key: `${round}-${n}`, hangs: 1 }));
    await journal.until(() => journal.events("count").length === 10 * round);
    kill(journal.pids()[round - 1] as number);
    expect((await Promise.all(calls)).map(failureOf).filter(isBlocked)).toEqual([]);
  }
  expect(await blocked(client, "never")).toBe(true);
  expect(journal.pids()).toHaveLength(2);

  // Each call crashes the child twice and counts as one failure.
  for (const key of ["one", "two"])
    expect(isBlocked(failureOf(await client.mcpCall("vital", "count", { key, crashes: 9 })))).toBe(false);
  const vital = folder.journal("vital");
  expect([vital.executions("one"), vital.executions("two")]).toEqual([2, 2]);
  expect(await blocked(client, "vital")).toBe(true);
  await client.close();
});

test("a successful retry and error answers of the child do not count as failures", async () => {
  const [client] = await setUp({ a: { criticality: "vital" } }, { threshold: 1 });
  await client.initialize();
  for (const key of ["one", "two"])
    expect(attemptsOf(await client.mcpCall("a", "count", { key, crashes: 1 }))).toBe(2);
  for (let n = 0; n < 3; n++) {
    expect(failureOf(await client.mcpCall("a", "fail")).code).toBe("execution_failed");
    expect(await client.mcpCall("a", "is_error")).toMatchObject({ isError: true });
  }
  expect(await blocked(client, "a")).toBe(false);
  await client.close();
});

/** Crashes `server` until it is blocked. */
async function crashUntilBlocked(client: RawClient, server: string, failures: number): Promise<void> {
  for (let n = 0; n < failures; n++) failureOf(await client.mcpCall(server, "crash"));
}

async function untilCooledDown(client: RawClient, server: string): Promise<void> {
  await until(
    async () => /the next call tries it again/.test((await serverStatus(client, server)).reason ?? ""),
    {
      what: "the cooldown to end",
    },
  );
}

test("after the cooldown one of a hundred calls reaches the child, and its outcome decides for all", async () => {
  const [client, folder] = await setUp({ a: { retry: "never" } }, { threshold: 2, cooldownMs: 3_000 });
  await client.initialize();
  const journal = folder.journal("a");
  const hundredCalls = async (tool: string, args: object): Promise<Record<string, unknown>[]> => {
    await untilCooledDown(client, "a");
    return await Promise.all(times(100, (n) => client.mcpCall("a", tool, { key: `${tool}${n}`, ...args })));
  };
  const rejected = (outcomes: Record<string, unknown>[]): number =>
    outcomes.filter((outcome) => outcome["isError"] && isBlocked(failureOf(outcome))).length;

  await client.mcpCall("a", "pid");
  await crashUntilBlocked(client, "a", 2);
  // The probe fails, so the server is blocked again with a new cooldown.
  expect(rejected(await hundredCalls("crash", {}))).toBe(99);
  expect(await blocked(client, "a")).toBe(true);
  // The probe is answered.
  expect(rejected(await hundredCalls("count", { ms: 500 }))).toBe(99);
  expect(journal.events("count").filter(({ tool }) => tool === "count")).toHaveLength(1);
  const all = await Promise.all(times(10, () => client.mcpCall("a", "pid")));
  expect(new Set(all.map(textOf))).toEqual(new Set([String(journal.pids().at(-1))]));
  // A single failure does not block the server again.
  await crashUntilBlocked(client, "a", 1);
  expect(await blocked(client, "a")).toBe(false);
  await client.close();
});

test("timeouts of a responsive child do not count as failures; an unresponsive child counts and is ended", async () => {
  const hung = { timeoutMs: 2_000 };
  const [client, folder] = await setUp(
    {
      slow: { timeoutMs: 2_000, retry: "never" },
      hung,
      ephemeral: { ...hung, lifecycle: "ephemeral" },
      crashed: { ...hung, criticality: "vital" },
      stopped: hung,
    },
    { threshold: 2 },
  );
  for (const name of ["hung", "ephemeral", "crashed"]) folder.write(`${name}.flags`, "--no-ping");
  await client.initialize();
  const timedOut = async (server: string, key: string, more: object = { hangs: 9 }): Promise<void> => {
    const calls = times(4, (n) => client.mcpCall(server, "count", { key: `${key}${n}`, ...more }));
    for (const outcome of await Promise.all(calls)) expect(failureOf(outcome).code).toBe("timeout");
  };
  const ended = async (journal: Journal): Promise<void> => await gone(journal.pids());

  const slow = async (): Promise<void> => {
    for (const key of ["a", "b", "c"]) await timedOut("slow", key);
    expect(textOf(await client.mcpCall("slow", "pid"))).toBe(String(folder.journal("slow").pids()[0]));
    expect(folder.journal("slow").pids()).toHaveLength(1);
  };
  const counted = async (server: string): Promise<void> => {
    const journal = folder.journal(server);
    await timedOut(server, "a");
    await ended(journal);
    await timedOut(server, "b");
    await ended(journal);
    expect(await blocked(client, server)).toBe(true);
  };
  // A crash followed by a retry that hangs counts as one failure.
  const crashed = async (): Promise<void> => {
    const first = await client.mcpCall("crashed", "count", { key: "k", crashes: 1, hangs: 9 });
    expect(failureOf(first).code).toBe("timeout");
    await ended(folder.journal("crashed"));
    expect(folder.journal("crashed").executions("k")).toBe(2);
    expect(await blocked(client, "crashed")).toBe(false);
  };
  const stopped = async (): Promise<void> => {
    const journal = folder.journal("stopped");
    await client.mcpCall("stopped", "pid");
    process.kill(journal.pids()[0] as number, "SIGSTOP");
    expect(failureOf(await client.mcpCall("stopped", "echo", { message: "?" })).code).toBe("timeout");
    await ended(journal);
    expect(textOf(await client.mcpCall("stopped", "echo", { message: "back" }))).toBe("back");
    expect(journal.pids()).toHaveLength(2);
  };
  await Promise.all([slow(), counted("hung"), counted("ephemeral"), crashed(), stopped()]);
  await client.close();
});

/** A remote child with one tool. `answer` handles its calls. */
const remote = (answer: Answerer): Answerer =>
  sessionful((seen, response, request) => {
    const { id, method } = seen.message;
    if (method === "tools/list")
      json(response, result(id, { tools: [{ name: "t", inputSchema: { type: "object" } }] }));
    else if (method === "tools/call") answer(seen, response, request);
    else json(response, result(id));
  });

const answerText = (seen: SeenRequest, response: ServerResponse, text: string): void =>
  json(response, result(seen.message.id, { content: [{ type: "text", text }] }));

test("a missing login and a rate limit do not count as failures, but 5xx answers do", async () => {
  let status = 401;
  let finish: (() => void) | undefined;
  const answer: Answerer = (seen, response) => {
    if (JSON.stringify(seen.message.params).includes("slowly"))
      finish = () => answerText(seen, response, "late");
    else if (status === 200) answerText(seen, response, "in");
    else response.writeHead(status).end();
  };
  const closed = await httpChild((seen, response, request) =>
    status === 401 ? response.writeHead(401).end() : remote(answer)(seen, response, request),
  );
  const live = await httpChild(remote(answer));
  const [client] = await setUp({ closed: { url: closed.url }, live: { url: live.url } }, { threshold: 2 });
  await client.initialize();
  const call = async (server: string): Promise<Record<string, unknown>> => await client.mcpCall(server, "t");
  for (let n = 0; n < 4; n++) {
    expect(failureOf(await call("closed")).code).toBe("auth_required");
    expect(failureOf(await call("live")).code).toBe("auth_required");
  }
  expect(await serverStatus(client, "closed")).toMatchObject({ state: "failed", connected: false });
  status = 200;
  expect([textOf(await call("closed")), textOf(await call("live"))]).toEqual(["in", "in"]);

  expect(client.stderr).toMatch(/closed: not authorised.*live: not authorised/s);

  status = 429;
  for (let n = 0; n < 4; n++) expect(failureOf(await call("live")).code).toBe("rate_limited");

  const slow = client.mcpCall("live", "t", { slowly: true });
  const finished = await until(() => finish);
  status = 503;
  const failures = [
    failureOf(await call("live")),
    failureOf(await call("live")),
    failureOf(await call("live")),
  ];
  expect(failures.map(isBlocked)).toEqual([false, false, true]);
  expect(failures[0]).toMatchObject({ code: "server_unavailable", retryable: false });
  // The success of a call that was sent before the block neither ends the block nor changes its reason.
  finished();
  expect(textOf(await slow)).toBe("late");
  expect((await serverStatus(client, "live")).reason).toMatch(/blocked.*503/);
  status = 200;
  expect(textOf(await call("closed"))).toBe("in");
  await client.close();
});

test("a remote server that drops many calls at once counts as one failure, and each call is retried once", async () => {
  const held: [SeenRequest, ServerResponse][] = [];
  let holding = true;
  const child = await httpChild(
    remote((seen, response) => {
      if (holding) held.push([seen, response]);
      else answerText(seen, response, "answered");
    }),
  );
  const [client] = await setUp({ remote: { url: child.url, retry: "crash" } }, { threshold: 2 });
  await client.initialize();
  const calls = times(8, () => client.mcpCall("remote", "t"));
  await until(() => held.length === 8);
  holding = false;
  for (const [, response] of held) response.destroy();
  for (const outcome of await Promise.all(calls))
    expect([textOf(outcome), attemptsOf(outcome)]).toEqual(["answered", 2]);

  // The retry is used up, so these calls fail together and count as one failure.
  holding = true;
  held.length = 0;
  const lost = times(8, () => client.mcpCall("remote", "t"));
  await until(() => held.length === 8);
  holding = false;
  for (const [, response] of held) response.destroy();
  for (const outcome of await Promise.all(lost)) expect(failureOf(outcome).retryable).toBe(false);
  expect(textOf(await client.mcpCall("remote", "t"))).toBe("answered");
  await client.close();
});

test("a remote tool that declares nothing runs once; a dropped call counts only if the server does not answer a ping", async () => {
  let seen = 0;
  let pings = 0;
  let alive = true;
  const child = await httpChild(
    sessionful((request, response) => {
      const { id, method } = request.message;
      if (method === "ping") pings++;
      if (method === "tools/call") seen++;
      if (method === "tools/call" || !alive) response.destroy();
      else if (method === "tools/list")
        json(response, result(id, { tools: [{ name: "t", inputSchema: { type: "object" } }] }));
      else json(response, result(id));
    }),
  );
  const [client] = await setUp({ remote: { url: child.url, timeoutMs: 30_000 } }, { threshold: 1 });
  await client.initialize();
  const lost = failureOf(await client.mcpCall("remote", "t"));
  expect(lost).toMatchObject({ code: "server_unavailable", retryable: false });
  expect(lost.message).toContain("The call may have run");
  await until(() => pings === 1);
  const reason = async (): Promise<string> => (await serverStatus(client, "remote")).reason ?? "";
  expect([seen, await reason()]).toEqual([1, expect.not.stringContaining("blocked")]);
  alive = false;
  // Within a minute the server gets no second chance, so this one counts at once.
  failureOf(await client.mcpCall("remote", "t"));
  expect([seen, await reason()]).toEqual([2, expect.stringContaining("blocked")]);
  await client.close();
});
