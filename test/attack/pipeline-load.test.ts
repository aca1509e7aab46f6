/**
 * Many concurrent calls, and custom layers that fail: other clients do not wait, and no forbidden call
 * reaches the server.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { lagDuring, MAX_LAG_MS } from "../support/lag.ts";
import { layeredTeam, layersOn } from "../support/layered-team.ts";
import { teamClient } from "../support/team-gateway.ts";
import { teamProcess } from "../support/team-process.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

test("a log message that is too large to be redacted is replaced by a notice, and a small one is redacted and forwarded", async () => {
  const { gateway, key } = await layersOn(await teamProcess(temp()), {
    endpoint: { middleware: [{ use: "redact", detect: ["email", "card"] }] },
  });
  const logs: string[] = [];
  const client = new Client({ name: "listening", version: "1" });
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logs.push(JSON.stringify(params)),
  );
  const url = new URL(`${gateway.url}/metamcp/aggregate/mcp`);
  const requestInit = { headers: { "x-api-key": key } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  await client.setLoggingLevel("debug");
  const log = (data: string) => client.callTool({ name: "fix__log", arguments: { level: "error", data } });
  const { lag } = await lagDuring(gateway, () => log("ada@example.org 4111 1111 1111 1112 ".repeat(100_000)));
  await log("small, of ada@example.org");
  await until(() => logs.length >= 2);
  await client.close();
  expect(logs.join("\n")).not.toContain("ada@");
  expect(logs[0]).toContain("[too large to be checked]");
  expect(logs[1]).toContain("small, of [email]");
  expect(lag).toBeLessThan(MAX_LAG_MS);
});

test("a concurrency limit passes 5 of 100 concurrent calls or more, and answers 429 to the others", async () => {
  const calls = Array.from({ length: 100 }, (_, n) => n);
  const { gateway, key, reached } = await layersOn(await teamProcess(temp()), {
    endpoint: { openapi: true, middleware: [{ use: "concurrency", max: 2, queue: 3 }] },
  });
  const send = async () =>
    (
      await fetch(`${gateway.url}/metamcp/aggregate/api/fix__sleep`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: '{"ms":1000}',
      })
    ).status;
  const { lag, value } = await lagDuring(gateway, () => Promise.all(calls.map(send)));
  const passed = value.filter((status) => status === 200).length;
  expect(passed).toBe(reached("sleep"));
  // A call that comes after the first ones have ended takes a free slot.
  expect(passed).toBeGreaterThanOrEqual(5);
  expect(value.filter((status) => status === 429)).toHaveLength(calls.length - passed);
  expect(lag).toBeLessThan(MAX_LAG_MS);
});

test("at most 50 calls of one caller wait for an approval, the others get 403, and none is made", async () => {
  const { gateway, key, reached, api } = await layersOn(await teamProcess(temp()), {
    endpoint: { openapi: true, middleware: [{ use: "policy", rules: [{ effect: "approve" }] }] },
  });
  const stop = new AbortController();
  const send = () =>
    fetch(`${gateway.url}/metamcp/aggregate/api/fix__echo`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: '{"message":"x"}',
      signal: stop.signal,
    }).then(
      ({ status }) => status,
      () => 0,
    );
  const statuses: number[] = [];
  const calls = Array.from({ length: 120 }, () => send().then((status) => void statuses.push(status)));
  const { lag } = await lagDuring(gateway, () => until(() => statuses.length >= 70));
  const waiting = (await api("GET", "/approvals")).body.items;
  expect(statuses.filter((status) => status === 403)).toHaveLength(70);
  expect(waiting.filter(({ state }: { state: string }) => state === "waiting")).toHaveLength(50);
  stop.abort();
  await Promise.all(calls);
  expect(reached("echo")).toBe(0);
  expect(lag).toBeLessThan(MAX_LAG_MS);
});

test("a custom layer that throws, hangs or returns an invalid result affects only the calls through it", async () => {
  const folder = temp();
  const layer = (call: string) => `export default { schema: { properties: {} }, compile: () => (${call}) };`;
  const LAYERS = {
    throws: "{ call: () => () => { throw new Error('x'); } }",
    rejects: "{ call: () => async () => { throw undefined; } }",
    nonsense: "{ call: () => async () => ({ content: [] }) }",
    hangs: "{ call: () => () => new Promise(() => {}) }",
    breaks: "{ list: { hides() { throw new Error('x'); } } }",
  };
  for (const [name, call] of Object.entries(LAYERS)) folder.write(`${name}.mjs`, layer(call));
  const { gateway, key, api, reached } = await layeredTeam({
    folder,
    flags: ["--middleware-dir", folder.path(".")],
  });
  for (const name of Object.keys(LAYERS)) {
    const middleware = [{ use: `./${name}.mjs` }];
    const made = await api("POST", "/endpoints", {
      name,
      namespaces: ["team"],
      surface: "aggregate",
      middleware,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
  const call = async (endpoint: string, options = {}) => {
    const client = await teamClient(gateway, endpoint, { key });
    return await client.call("fix__echo", { message: "x" }, options).catch((error: Error) => error.message);
  };
  expect(await call("throws")).toMatch(/"\.\/throws\.mjs".* failed, so the call was refused/);
  expect(await call("rejects")).toMatch(/failed, so the call was refused/);
  expect(await call("nonsense")).toMatch(/does not return the bytes/);
  expect(await call("breaks")).toMatch(/[Uu]nknown tool|tool_not_found/);
  const stop = new AbortController();
  const hanging = call("hangs", { signal: stop.signal });
  expect(await call("aggregate")).toBe("x");
  stop.abort();
  await hanging;
  const ended = await until(async () => {
    const { body } = await api("GET", "/calls?endpoint=hangs");
    return body.items.find(({ outcome }: { outcome: string }) => outcome !== "ok");
  });
  expect(ended).toMatchObject({ tool: "echo" });
  expect(reached("echo")).toBe(1);
});
