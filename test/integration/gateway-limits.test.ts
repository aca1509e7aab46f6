/** Limits for sessions and concurrent requests, of an endpoint and of the gateway. */
import { expect, test } from "vitest";
import { HEADERS } from "../support/http-gateway.ts";
import { type TeamGateway, teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function team() {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder);
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
