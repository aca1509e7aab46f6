/**
 * Which calls are repeated, counted at the child: only those whose connection died, and only if the rules
 * allow it.
 */
import { rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { error, event, events, httpChild, json, result, sessionful } from "../../support/http-child.ts";
import { attemptsOf, failureOf, serverStatus, textOf } from "../../support/meta.ts";
import { kill } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** A gateway with servers that each keep a journal under their own name. */
async function setUp(servers: Record<string, object>, folder: Temp = temp()): Promise<[RawClient, Temp]> {
  const entries = Object.entries(servers).map(([name, more]) => [
    name,
    {
      ...fixture("--journal", folder.journal(name).file, "--flags-file", folder.path(`${name}.flags`)),
      ...more,
    },
  ]);
  folder.writeConfig(Object.fromEntries(entries), { pool: { failureThreshold: 1_000 } });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize({ elicitation: {} });
  return [client, folder];
}

test("a tool that declares nothing runs once: its server is started again, and the error says that the call may have run", async () => {
  const careful = { criticality: "vital", retry: "safe" };
  const [client, folder] = await setUp({ a: {}, careful });
  for (const [server, tool] of [
    ["a", "count"],
    ["careful", "count"],
    ["careful", "count_unsafe"],
  ] as const) {
    const journal = folder.journal(server);
    const lost = failureOf(await client.mcpCall(server, tool, { key: tool, crashes: 1 }));
    expect(lost).toMatchObject({ code: "server_unavailable", retryable: false });
    expect(lost.message).toContain("The call may have run: check its effects");
    expect(journal.executions(tool)).toBe(1);
  }
  // The new process does not wait for a call.
  const journal = folder.journal("a");
  await journal.until(() => journal.pids().length === 2);
  expect(textOf(await client.mcpCall("a", "pid"))).toBe(String(journal.pids()[1]));

  // What is declared safe is repeated; if that fails too, the error says how often it was sent.
  const twice = failureOf(await client.mcpCall("careful", "count_safe", { key: "safe", crashes: 9 }));
  expect(twice).toMatchObject({ retryable: true, details: { attempts: 2 } });
  expect(twice.message).toContain("sent this call 2 times");
  const cured = await client.mcpCall("careful", "count_safe", { key: "cured", crashes: 1 });
  expect([textOf(cured), attemptsOf(cured)]).toEqual(["cured 2", 2]);
  await client.close();
});

test("with retry crash a call whose child crashes is repeated once, and its result says so", async () => {
  const [client, folder] = await setUp({ a: { retry: "crash" }, vital: { criticality: "vital" } });
  const journal = folder.journal("a");
  const cured = await client.mcpCall("a", "count", { key: "once", crashes: 1 });
  expect([textOf(cured), attemptsOf(cured)]).toEqual(["once 2", 2]);
  expect(attemptsOf(await client.mcpCall("a", "count", { key: "calm" }))).toBeUndefined();
  expect(journal.pids()).toHaveLength(2);

  // A second crash within a minute: an optional server has only one restart per minute.
  const lost = failureOf(await client.mcpCall("a", "count", { key: "again", crashes: 1 }));
  expect(lost).toMatchObject({ code: "server_unavailable", retryable: false });
  expect(journal.executions("again")).toBe(1);
  expect(textOf(await client.mcpCall("a", "count", { key: "again", crashes: 1 }))).toBe("again 2");

  // A vital server always gets a restart, but never two for the same call.
  for (const key of ["one", "two"]) {
    const result = await client.mcpCall("vital", "count", { key, crashes: 1 });
    expect([textOf(result), attemptsOf(result)]).toEqual([`${key} 2`, 2]);
  }
  failureOf(await client.mcpCall("vital", "count", { key: "stubborn", crashes: 9 }));
  expect(folder.journal("vital").executions("stubborn")).toBe(2);
  await client.close();
});

test("a call is not repeated if its tool is unsafe or retry is never", async () => {
  const [client, folder] = await setUp({ a: { criticality: "vital" }, never: { retry: "never" } });
  const unsafe = failureOf(await client.mcpCall("a", "count_unsafe", { key: "unsafe", crashes: 1 }));
  expect(unsafe).toMatchObject({ code: "server_unavailable", retryable: false });
  const safe = failureOf(await client.mcpCall("a", "count_safe", { key: "safe", crashes: 9 }));
  expect(safe).toMatchObject({ code: "server_unavailable", retryable: true });
  const journal = folder.journal("a");
  expect([journal.executions("unsafe"), journal.executions("safe")]).toEqual([1, 2]);

  for (const tool of ["count", "count_safe"]) {
    failureOf(await client.mcpCall("never", tool, { key: tool, crashes: 1 }));
    expect(folder.journal("never").executions(tool)).toBe(1);
  }
  await client.close();
});

test("all running calls share one restart and each gets its own second attempt", async () => {
  const [client, folder] = await setUp({ a: { retry: "crash" }, b: {} });
  const journal = folder.journal("a");
  const tools = ["count", "count_safe", "count_unsafe"];
  const calls = Array.from({ length: 12 }, (_, n) => ({ key: `k${n}`, tool: tools[n % 3] as string }));
  const running = calls.map(({ key, tool }) => client.mcpCall("a", tool, { key, hangs: 1 }));
  const beside = client.mcpCall("b", "count", { key: "beside", ms: 200 });
  await journal.until(() => journal.events("count").length === calls.length);
  kill(journal.pids()[0] as number);

  const results = await Promise.all(running);
  for (const [n, { key, tool }] of calls.entries()) {
    const result = results[n] as Record<string, unknown>;
    if (tool === "count_unsafe") expect(failureOf(result).retryable).toBe(false);
    else expect([textOf(result), attemptsOf(result)]).toEqual([`${key} 2`, 2]);
    expect(journal.executions(key)).toBe(tool === "count_unsafe" ? 1 : 2);
  }
  expect(journal.pids()).toHaveLength(2);
  expect(textOf(await beside)).toBe("beside 1");
  expect(folder.journal("b").pids()).toHaveLength(1);
  await client.close();
});

test("a timed-out call is cancelled at its child and not repeated", async () => {
  const [client, folder] = await setUp({ a: { timeoutMs: 2_000 } });
  const journal = folder.journal("a");
  await client.mcpCall("a", "pid");
  const [slow, safe] = await Promise.all([
    client.mcpCall("a", "count", { key: "slow", hangs: 1 }),
    client.mcpCall("a", "count_safe", { key: "safe", hangs: 1 }),
  ]);
  expect(failureOf(slow)).toMatchObject({ code: "timeout", retryable: false });
  expect(failureOf(safe)).toMatchObject({ code: "timeout", retryable: true });
  await journal.until(() => journal.events("cancelled").length === 2);
  // Progress resets the timeout: this call takes twice the timeout.
  const talking = await client.mcpCall("a", "progress", { n: 20, ms: 200 }, { progressToken: 1 });
  expect(textOf(talking)).toBe("reported 20");
  expect([journal.executions("slow"), journal.executions("safe")]).toEqual([1, 1]);
  expect(journal.pids()).toHaveLength(1);
  await client.close();
});

test("progress does not extend the deadline, and a question to the person pauses both limits", async () => {
  const [client, folder] = await setUp({ a: { timeoutMs: 2_000, deadlineMs: 4_500 } });
  await client.mcpCall("a", "pid");
  const talking = client.mcpCall("a", "progress", { n: 1_000, ms: 50 }, { progressToken: 1 });
  expect(failureOf(await talking)).toMatchObject({ code: "timeout" });
  expect(client.notifications.length).toBeGreaterThan(3);

  const asking = client.mcpCall("a", "ask");
  await client.until(({ requests }) => requests.length === 1);
  // Waits longer than both limits: another call times out three times meanwhile.
  for (let n = 0; n < 3; n++) expect(failureOf(await client.mcpCall("a", "hang")).code).toBe("timeout");
  const answer = { jsonrpc: "2.0", id: client.requests[0]?.id, result: { action: "accept", content: {} } };
  client.write(`${JSON.stringify(answer)}\n`);
  expect(JSON.stringify(await asking)).toContain("accept");
  expect(folder.journal("a").pids()).toHaveLength(1);
  await client.close();
});

test("the time to connect counts towards the deadline, with known and unknown tools", async () => {
  const folder = temp();
  const [client] = await setUp({ a: { deadlineMs: 4_000 } }, folder);
  const gate = folder.path("open");
  folder.write("a.flags", `--wait-for ${gate}`);
  const late = failureOf(await client.mcpCall("a", "pid"));
  expect(late).toMatchObject({ code: "timeout", retryable: true });
  expect(late.message).toMatch(/deadlineMs 4000/);
  folder.write("open", "");
  expect(textOf(await client.mcpCall("a", "pid"))).toMatch(/^\d+$/);

  // The second attempt waits for a process that does not become ready.
  rmSync(gate);
  const journal = folder.journal("a");
  const lost = client.mcpCall("a", "count_safe", { key: "respawn", hangs: 9 });
  await journal.until(() => journal.events("count").length === 1);
  kill(journal.pids().at(-1) as number);
  expect(failureOf(await lost)).toMatchObject({ code: "timeout", retryable: true });
  expect(journal.executions("respawn")).toBe(1);
  await client.close();
});

test("a cancelled call is not repeated, also if it is cancelled while its second attempt waits", async () => {
  const [client, folder] = await setUp({ a: { retry: "crash" } });
  const journal = folder.journal("a");
  await client.mcpCall("a", "pid");
  client.mcpCall("a", "count", { key: "cancelled", hangs: 1 }).catch(() => {});
  const cancelled = client.lastId;
  client.mcpCall("a", "count", { key: "waiting", hangs: 1 }).catch(() => {});
  const waiting = client.lastId;
  await journal.until(() => journal.events("count").length === 2);
  client.notify("notifications/cancelled", { requestId: cancelled });
  await journal.until(() => journal.events("cancelled").length === 1);

  folder.write("a.flags", `--wait-for ${folder.path("open")}`);
  kill(journal.pids()[0] as number);
  await journal.until(() => journal.pids().length === 2);
  client.notify("notifications/cancelled", { requestId: waiting });
  expect((await client.request("ping")).result).toEqual({});
  folder.write("open", "");
  expect(textOf(await client.mcpCall("a", "count", { key: "after" }))).toBe("after 1");
  expect([journal.executions("cancelled"), journal.executions("waiting")]).toEqual([1, 1]);
  expect(journal.pids()).toHaveLength(2);
  await client.close();
});

test("an error answer causes neither a restart nor a repetition", async () => {
  const [client, folder] = await setUp({ a: {} });
  for (let n = 0; n < 3; n++) {
    const failed = failureOf(
      await client.mcpCall("a", "fail", { code: -32_602, message: "no", data: { n } }),
    );
    expect(failed).toMatchObject({ code: "execution_failed", details: { code: -32_602, data: { n } } });
    const result = await client.mcpCall("a", "is_error", { message: "broken" });
    expect(result).toEqual({ content: [{ type: "text", text: "broken" }], isError: true });
  }
  const methods = folder.journal("a").methods();
  expect(methods.filter((method) => method === "tools/call")).toHaveLength(6);
  expect(methods.filter((method) => method === "initialize")).toHaveLength(1);
  await client.close();
});

test("retryable is right if the new process does not start: false after an execution, true if nothing was sent", async () => {
  const folder = temp();
  const [client] = await setUp({ gone: {}, idle: {} }, folder);
  const journal = folder.journal("gone");
  await client.mcpCall("gone", "pid");
  const running = client.mcpCall("gone", "count", { key: "k", hangs: 1 });
  const harmless = client.mcpCall("gone", "count_safe", { key: "safe", hangs: 1 });
  await journal.until(() => journal.events("count").length === 2);
  folder.write("gone.flags", "--exit-at-once 9");
  kill(journal.pids()[0] as number);
  // The call was executed once, so it is not retryable although the second attempt was not sent.
  expect(failureOf(await running)).toMatchObject({ code: "server_unavailable", retryable: false });
  expect(failureOf(await harmless)).toMatchObject({ code: "server_unavailable", retryable: true });

  // This call was never sent.
  await client.mcpCall("idle", "pid");
  folder.write("idle.flags", "--exit-at-once 9");
  const idle = folder.journal("idle");
  kill(idle.pids()[0] as number);
  await until(async () => !(await serverStatus(client, "idle")).connected);
  const unsent = failureOf(await client.mcpCall("idle", "count", { key: "k" }));
  expect(unsent).toMatchObject({ code: "server_unavailable", retryable: true });
  expect(unsent.message).toContain("Nothing was done");
  expect(idle.executions("k")).toBe(0);
  await client.close();
});

test("a text says once that the process of a keep-alive server was replaced, on the meta and metatools surfaces", async () => {
  const folder = temp();
  folder.writeConfig(
    { kept: { ...fixture(), lifecycle: "keep-alive" } },
    { pool: { failureThreshold: 1_000 } },
  );
  const said = /^kept: The server was restarted since your last call\..* Reason: /;
  const texts = (result: object): string[] =>
    (result as { content: { text: string }[] }).content.map(({ text }) => text);
  const open = async (surface: string): Promise<RawClient> => {
    const client = gateway(folder, { flags: ["--log-level", "error", "--surface", surface] });
    await client.initialize();
    return client;
  };

  const meta = await open("meta");
  const replaced = async (): Promise<void> => {
    expect(textOf(await meta.mcpCall("kept", "pid"))).toMatch(/^\d+$/);
    failureOf(await meta.mcpCall("kept", "crash"));
  };
  await replaced();
  const [pid, note] = texts(await meta.mcpCall("kept", "pid"));
  expect([pid, note]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(said)]);
  expect(texts(await meta.mcpCall("kept", "pid"))).toHaveLength(1);
  await meta.close();

  const metatools = await open("metatools");
  const steps = [{ tool_id: "kept:pid" }, { tool_id: "kept:pid" }];
  await metatools.tool("run_tool", { tool_id: "kept:pid" });
  await metatools.tool("run_tool", { tool_id: "kept:crash" });
  expect(texts(await metatools.tool("run_tool", { tool_id: "kept:pid" }))[1]).toMatch(said);
  expect(texts(await metatools.tool("run_chain", { steps }))).toHaveLength(1);
  await metatools.close();

  const aggregate = await open("aggregate");
  await aggregate.tool("kept__pid", {});
  await aggregate.tool("kept__crash", {});
  const bare = await aggregate.tool("kept__pid", {});
  expect([texts(bare).length, Object.keys(bare["_meta"] as object)]).toEqual([1, ["metamcp/restarted"]]);
  await aggregate.close();
});

test("over HTTP a call with effects runs once, whatever happens to its answer", async () => {
  const runs = new Map<string, number>();
  const lost = {
    reset: (_id, response) => response.destroy(),
    "broken body": (_id, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "99" });
      response.write('{"jsonrpc"');
      setImmediate(() => response.destroy());
    },
    "broken stream": (_id, response) => {
      events(response).write(event({ jsonrpc: "2.0", method: "notifications/message", params: {} }, "e1"));
      setImmediate(() => response.destroy());
    },
    "ended stream": (_id, response) => void events(response).end(),
    empty: (_id, response) => void response.writeHead(200).end(),
    "status 500": (_id, response) => void response.writeHead(500).end(),
    "status 502": (_id, response) => json(response, error(null, -32000, "upstream"), 502),
    "status 400": (_id, response) => json(response, error(null, -32603, "it broke while it ran"), 400),
  } satisfies Record<string, (id: unknown, response: ServerResponse) => void>;
  const child = await httpChild(
    sessionful(({ method, message: { id, method: asked, params } }, response) => {
      if (asked === "tools/list")
        json(response, result(id, { tools: [{ name: "act", inputSchema: { type: "object" } }] }));
      else if (asked === "tools/call") {
        const { how } = params?.["arguments"] as { how: keyof typeof lost };
        runs.set(how, (runs.get(how) ?? 0) + 1);
        lost[how](id, response);
      } else if (method === "GET") response.writeHead(404).end();
      else json(response, result(id));
    }),
  );
  const folder = temp();
  folder.writeConfig({ remote: { url: child.url } }, { pool: { failureThreshold: 1_000 } });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  for (const how of Object.keys(lost)) {
    const failed = failureOf(await client.mcpCall("remote", "act", { how }));
    expect([how, failed.retryable, runs.get(how)]).toEqual([how, false, 1]);
    expect(failed.message, how).toContain("may have run");
  }
  await client.close();
});

test("a call with effects of code or of a chain runs once when its server dies", async () => {
  const [client, folder] = await setUp({ a: {} });
  const journal = folder.journal("a");
  const code = "await tools.a.count({ key: 'code', crashes: 1 })";
  expect(textOf(await client.tool("mcp_execute", { code }))).toContain("may have run");
  expect(journal.executions("code")).toBe(1);
  await client.close();
  const metatools = gateway(folder, { flags: ["--log-level", "error", "--surface", "metatools"] });
  await metatools.initialize();
  const steps = [{ tool_id: "a:count", args: { key: "chain", crashes: 1 } }];
  expect(textOf(await metatools.tool("run_chain", { steps }))).toContain("may have run");
  expect(journal.executions("chain")).toBe(1);
  await metatools.close();
});
