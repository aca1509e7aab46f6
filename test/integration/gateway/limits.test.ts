/** Limits for sessions and concurrent requests, of an endpoint and of the gateway. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { ADMIN_TOKEN, type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function team(flags: readonly string[] = []) {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder, { flags });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const common = { namespaces: ["team"], surface: "aggregate", openapi: true };
  for (const name of ["one", "two"]) await api("POST", "/endpoints", { name, ...common });
  return { gateway, api, journal, key: await gateway.key() };
}

function post({ url }: TeamGateway, key: string, path: string, body: object, headers = {}) {
  return fetch(`${url}/metamcp/${path}`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key, ...headers },
    body: JSON.stringify(body),
  });
}

test("a session over the limit is rejected with 429, and the limits can be changed at runtime", async () => {
  const { gateway, api, key } = await team();
  await api("PATCH", "/endpoints/one", { limits: { sessions: 2 } });
  const first = await teamClient(gateway, "one", { key });
  await teamClient(gateway, "one", { key, way: "sse" });
  const refused = await post(gateway, key, "one/mcp", INITIALIZE);
  expect([refused.status, refused.headers.get("mcp-session-id")]).toEqual([429, null]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const sse = await fetch(`${gateway.url}/metamcp/one/sse`, { headers: { "x-api-key": key } });
  expect(sse.status).toBe(429);
  expect((await post(gateway, key, "two/mcp", INITIALIZE)).status).toBe(200);
  expect((await first.tools()).length).toBeGreaterThan(0);
  await api("PATCH", "/settings", { limits: { sessions: 3 } });
  expect((await post(gateway, key, "two/mcp", INITIALIZE)).status).toBe(429);
  await api("PATCH", "/settings", { limits: { sessions: null } });
  expect((await post(gateway, key, "two/mcp", INITIALIZE)).status).toBe(200);
});

test("a request over the concurrency limit is rejected on every transport, but a cancellation is accepted", async () => {
  const { gateway, api, key, journal } = await team();
  const begun = await post(gateway, key, "one/mcp", INITIALIZE);
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  await begun.text();
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
  expect((await post(gateway, key, "one/mcp", list, session)).status).toBe(200);
  await api("PATCH", "/endpoints/one", { limits: { inFlight: 1 } });
  const hang = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "fix__hang" } };
  const waiting = post(gateway, key, "one/mcp", hang, session).then((response) => response.text());
  await until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  const refused = await post(gateway, key, "one/mcp", list, session);
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 1]);
  const rest = await post(gateway, key, "one/api/fix__echo", { message: "x" });
  expect([rest.status, rest.headers.get("retry-after")]).toEqual([429, "1"]);
  expect((await post(gateway, key, "two/api/fix__echo", { message: "x" })).status).toBe(200);
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } };
  expect((await post(gateway, key, "one/mcp", cancel, session)).status).toBe(202);
  await waiting;
  await until(async () => (await post(gateway, key, "one/api/fix__echo", { message: "x" })).status === 200);
});

test("a batch needs as many places as it has requests", async () => {
  const { gateway, api, key } = await team();
  const version = { ...INITIALIZE.params, protocolVersion: "2025-03-26" };
  const begun = await post(gateway, key, "one/mcp", { ...INITIALIZE, params: version });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  await begun.text();
  await api("PATCH", "/endpoints/one", { limits: { inFlight: 2 } });
  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
  const note = { jsonrpc: "2.0", method: "notifications/unknown" };
  const sent = (batch: object[]) => post(gateway, key, "one/mcp", batch, session);
  expect((await sent([ping(2), ping(3), note, note])).status).toBe(200);
  expect((await sent([ping(2), ping(3), ping(4)])).status).toBe(429);
  expect((await sent([note, note, note])).status).toBe(202);
});

test("a caller without a session gets a place of the caller that holds most", async () => {
  const { gateway, api, key } = await team();
  const other = await gateway.key();
  await api("PATCH", "/endpoints/one", { limits: { sessions: 3 } });
  const opened = await Promise.all([1, 2, 3].map(() => post(gateway, key, "one/mcp", INITIALIZE)));
  const sessions = opened.map(({ headers }) => headers.get("mcp-session-id") ?? "");
  expect((await post(gateway, key, "one/mcp", INITIALIZE)).status).toBe(429);
  expect((await post(gateway, other, "one/mcp", INITIALIZE)).status).toBe(200);
  expect((await post(gateway, other, "one/mcp", INITIALIZE)).status).toBe(429);
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const pings = sessions.map(async (id) => {
    const answer = await post(gateway, key, "one/mcp", ping, { "mcp-session-id": id });
    return answer.status;
  });
  expect((await Promise.all(pings)).toSorted()).toEqual([200, 200, 404]);
});

test("all keys of an account have one share, and strangers behind a proxy one for each network", async () => {
  const { gateway, api, key } = await team(["--trust-proxy", "127.0.0.1"]);
  const ada = (await api("POST", "/users", { email: "ada@example.org", role: "member" })).body.uuid;
  await api("PATCH", "/endpoints/one", { limits: { sessions: 3 } });
  await api("PATCH", "/endpoints/two", { limits: { sessions: 2 }, access: { public: true } });
  const made = [1, 2, 3, 4].map((n) =>
    api("POST", "/api-keys", { name: `ada${n}`, endpoints: "all", owner: ada }),
  );
  const keys = (await Promise.all(made)).map(({ body }) => body.key as string);
  const statuses: number[] = [];
  for (const one of [...keys, key]) statuses.push((await post(gateway, one, "one/mcp", INITIALIZE)).status);
  expect(statuses).toEqual([200, 200, 200, 429, 200]);
  const from = async (address: string) =>
    (await post(gateway, "", "two/mcp", INITIALIZE, { "x-forwarded-for": address })).status;
  expect([await from("2001:db8::1"), await from("2001:db8::2")]).toEqual([200, 200]);
  expect([await from("2001:db8::3"), await from("192.0.2.1")]).toEqual([429, 200]);
});

test("a stranger does not crowd out the stored results of strangers in other networks", async () => {
  const { gateway, api } = await team(["--trust-proxy", "127.0.0.1"]);
  await api("PATCH", "/endpoints/one", { surface: "meta", access: { public: true } });
  const stranger = async (address: string) => {
    const from = { "x-forwarded-for": address };
    const begun = await post(gateway, "", "one/mcp", INITIALIZE, from);
    await begun.text();
    const session = { ...from, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    return async (method: string, params: object): Promise<string> =>
      await (await post(gateway, "", "one/mcp", { jsonrpc: "2.0", id: 2, method, params }, session)).text();
  };
  const big = (bytes: number) => ({
    name: "mcp_call",
    arguments: { server: "fix", tool: "big", args: { bytes } },
  });
  const uriIn = (text: string): string => /metamcp:\/\/result\/[\w.-]+/.exec(text)?.[0] ?? "";
  const one = await stranger("192.0.2.1");
  const uri = uriIn(await one("tools/call", big(2_000_000)));
  const other = await stranger("192.0.2.2");
  const theirs: string[] = [];
  // The store has 256 MB for all.
  for (let n = 0; n < 18; n += 1) theirs.push(uriIn(await other("tools/call", big(16_000_000))));
  expect(await other("resources/read", { uri: theirs[0] })).toContain("expired");
  expect(await other("resources/read", { uri: theirs.at(-1) })).toContain("xxxx");
  expect(await one("resources/read", { uri })).toContain("xxxx");
});

test("a client of the old transport does not lose its session while a call runs", async () => {
  const { gateway, api, key, journal } = await team();
  const other = await gateway.key();
  await api("PATCH", "/endpoints/one", { limits: { sessions: 2 } });
  const clients = [
    await teamClient(gateway, "one", { key, way: "sse" }),
    await teamClient(gateway, "one", { key, way: "sse" }),
  ];
  const leaving = new AbortController();
  const calls = clients.map((client) => client.call("fix__hang", {}, { signal: leaving.signal }));
  const over = Promise.allSettled(calls);
  await until(() => journal.events("message").filter(({ tool }) => tool === "hang").length === 2);
  expect((await post(gateway, other, "one/mcp", INITIALIZE)).status).toBe(429);
  leaving.abort();
  await over;
  await until(async () => (await post(gateway, other, "one/mcp", INITIALIZE)).status === 200);
});

test("the old transport works with the key in the URL, and the session ends with the key", async () => {
  const { gateway, api } = await team();
  await api("PATCH", "/endpoints/one", { access: { queryKey: true } });
  const made = await api("POST", "/api-keys", { name: "in-url", endpoints: "all" });
  const { key, uuid } = made.body as unknown as { key: string; uuid: string };
  const stream = await fetch(`${gateway.url}/metamcp/one/sse?api_key=${key}`);
  const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const path = /data: (.*)/.exec((await events?.read())?.value ?? "")?.[1] ?? "";
  expect(path).not.toContain(key);
  const send = (to: string, headers = {}) =>
    fetch(`${gateway.url}${to}`, {
      method: "POST",
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify(INITIALIZE),
    });
  expect((await send(path)).status).toBe(202);
  expect((await events?.read())?.value).toContain('"protocolVersion"');
  expect((await send(path, { "x-api-key": "wrong" })).status).toBe(401);
  expect((await send(path.replace(/=.*/, "=0"))).status).toBe(401);
  // A session that was opened with the key in a header needs it for each message.
  const byHeader = await fetch(`${gateway.url}/metamcp/one/sse`, { headers: { "x-api-key": key } });
  const first = await byHeader.body?.pipeThrough(new TextDecoderStream()).getReader().read();
  expect((await send(/data: (.*)/.exec(first?.value ?? "")?.[1] ?? "")).status).toBe(401);
  await api("DELETE", `/api-keys/${uuid}`);
  await until(async () => (await send(path)).status === 401);
});

test("the admin API, endpoints and old streams tell proxies not to collect events", async () => {
  const { gateway, key } = await team();
  const sse = await fetch(`${gateway.url}/metamcp/one/sse`, { headers: { "x-api-key": key } });
  const live = await adminFetch(`${gateway.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const hanging = post(gateway, key, "one/mcp", {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "fix__hang" },
  });
  for (const { headers, body } of [sse, live, await hanging]) {
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect([headers.get("x-accel-buffering"), headers.get("cache-control")]).toEqual([
      "no",
      "no-cache, no-store, no-transform",
    ]);
    await body?.cancel();
  }
});
