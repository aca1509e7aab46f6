/** Access to endpoints: keys, what strangers can learn, and what ends when a key is revoked. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { auditRecords } from "../../support/records.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function request(
  { url }: TeamGateway,
  path: string,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<{ status: number; headers: Record<string, string>; text: string }> {
  const body = method === "POST" ? { body: JSON.stringify(INITIALIZE) } : {};
  const response = await fetch(`${url}/metamcp/${path}`, {
    method,
    headers: { ...HEADERS, ...headers },
    ...body,
  });
  const { date: _, ...shown } = Object.fromEntries(response.headers);
  const challenge = shown["www-authenticate"];
  // The address of the endpoint's metadata contains the name that the caller sent.
  if (challenge) shown["www-authenticate"] = challenge.replace(/\/metamcp\/\w+\/(mcp|sse)"/, '/metamcp/…"');
  return { status: response.status, headers: shown, text: await response.text() };
}

async function team() {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const made = async (name: string, more: object = {}) =>
    (await api("POST", "/endpoints", { name, namespaces: ["team"], surface: "aggregate", ...more })).body;
  return {
    gateway,
    api,
    one: await made("one"),
    two: await made("two"),
    off: await made("off", { disabled: true }),
    open: await made("open", { access: { public: true } }),
    query: await made("query", { access: { queryKey: true } }),
  };
}

test("CORS allows the listed origins, and without a key all endpoints look the same", async () => {
  const { gateway, api } = await team();
  const origin = "https://app.example";
  const access = { origins: [origin] };
  expect((await api("PATCH", "/endpoints/one", { access })).status).toBe(200);
  const refused = await request(gateway, "one/mcp", { origin });
  expect(refused).toMatchObject({
    status: 401,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, www-authenticate",
    },
  });
  const asked = { origin, "access-control-request-method": "POST" };
  const preflight = await request(gateway, "one/mcp", asked, "OPTIONS");
  expect(preflight.status).toBe(204);
  for (const path of ["two/mcp", "off/mcp", "never/mcp"]) {
    expect(await request(gateway, path, { origin })).toEqual(refused);
    expect(await request(gateway, path, asked, "OPTIONS")).toEqual(preflight);
  }
  const key = { "x-api-key": await gateway.key() };
  const statusOf = async (path: string, from: string): Promise<number> =>
    (await request(gateway, path, { ...key, origin: from })).status;
  expect(await statusOf("one/mcp", origin)).toBe(200);
  expect(await statusOf("two/mcp", origin)).toBe(403);
  expect(await statusOf("never/mcp", origin)).toBe(404);
  expect(await statusOf("open/mcp", origin)).toBe(403);
  expect(await statusOf("one/mcp", "https://else.example")).toBe(403);
});

test("without a key all endpoints look the same, and with a key all endpoints that it does not open", async () => {
  const { gateway, api, one, open } = await team();
  const refused = await request(gateway, "one/mcp");
  expect(refused.status).toBe(401);
  const wrong = { "x-api-key": `mmcp_${"0".repeat(32)}_${"x".repeat(43)}` };
  for (const path of ["two/mcp", "off/mcp", "never/mcp", "one/sse", "one/none", "query/mcp?api_key=x"]) {
    expect(await request(gateway, path)).toEqual(refused);
    expect(await request(gateway, path, wrong)).toEqual(refused);
  }
  const key = await gateway.key([one.uuid]);
  const missing = await request(gateway, "never/mcp", { "x-api-key": key });
  expect(missing.status).toBe(404);
  for (const path of ["two/mcp", "off/mcp", "query/mcp", "one/none"])
    expect(await request(gateway, path, { "x-api-key": key })).toEqual(missing);
  for (const path of ["query/mcp", "never/mcp"])
    expect(await request(gateway, `${path}?api_key=${key}`)).toEqual(refused);
  expect((await request(gateway, "one/mcp", { authorization: `Bearer ${key}` })).status).toBe(200);
  expect((await request(gateway, "open/mcp")).status).toBe(200);
  expect(open.access.public).toBe(true);
  const all = await gateway.key();
  expect((await request(gateway, `query/mcp?api_key=${all}`)).status).toBe(200);
  expect((await request(gateway, `one/mcp?api_key=${all}`)).status).toBe(401);
  expect(
    (await adminFetch(`${gateway.url}/api/v1/endpoints`, { headers: { "x-api-key": all } })).status,
  ).toBe(401);
  const expired = await api("POST", "/api-keys", {
    name: "old",
    endpoints: "all",
    expiresAt: new Date(Date.now() + 500).toISOString(),
  });
  await until(
    async () => (await request(gateway, "one/mcp", { "x-api-key": expired.body.key })).status === 401,
  );
});

test("wrong credentials are recorded, and limited without refusing valid ones or telling which endpoints exist", async () => {
  const { gateway } = await team();
  const valid = { "x-api-key": await gateway.key() };
  const admin = (headers: Record<string, string>): Promise<Response> =>
    adminFetch(`${gateway.url}/api/v1/endpoints`, { headers });
  const stale = { cookie: `metamcp=${"x".repeat(43)}` };
  for (let at = 0; at < 25; at += 1) {
    expect((await request(gateway, "one/mcp", { "x-api-key": `wrong${at}` })).status).toBe(401);
    expect((await admin({ authorization: `Bearer wrong${at}` })).status).toBe(401);
  }
  const limited = await request(gateway, "one/mcp", { "x-api-key": "wrong" });
  expect(limited.status).toBe(429);
  expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
  expect((await request(gateway, "never/mcp", { authorization: "Bearer wrong" })).status).toBe(429);
  const atAdmin = await admin({ authorization: "Bearer wrong" });
  expect(atAdmin.status).toBe(429);
  expect(atAdmin.headers.get("content-type")).toContain("problem+json");
  expect(Number(atAdmin.headers.get("retry-after"))).toBeGreaterThan(0);
  // Valid credentials, requests without any, and what must make a client log in again.
  expect((await request(gateway, "one/mcp", valid)).status).toBe(200);
  expect((await gateway.api("GET", "/endpoints")).status).toBe(200);
  for (const path of ["one/mcp", "query/mcp?api_key=wrong", "never/mcp?api_key=wrong"])
    expect((await request(gateway, path)).status).toBe(401);
  expect((await request(gateway, "one/mcp", { authorization: "Bearer a.b.c" })).status).toBe(401);
  expect((await admin(stale)).status).toBe(401);

  const records = await auditRecords(gateway, "&kind=login&outcome=refused", 5);
  const first = { kind: "login", outcome: "refused", address: "127.0.0.1" };
  expect(records).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...first, action: "key", endpoint: { name: "one" } }),
      expect.objectContaining({ ...first, action: "token" }),
      expect.objectContaining({ ...first, action: "cookie" }),
    ]),
  );
  expect(JSON.stringify(records)).not.toContain("wrong");
  expect(gateway.stderr).toContain('unknown or expired key refused at endpoint \\"one\\", from 127.0.0.1');
});

test("a session belongs to one endpoint and one key", async () => {
  const { gateway } = await team();
  const [key, other] = [await gateway.key(), await gateway.key()];
  const begun = await request(gateway, "one/mcp", { "x-api-key": key });
  const session = { "mcp-session-id": begun.headers["mcp-session-id"] ?? "" };
  expect(session["mcp-session-id"]).not.toBe("");
  expect((await request(gateway, "one/mcp", { "x-api-key": other, ...session }, "DELETE")).status).toBe(404);
  expect((await request(gateway, "two/mcp", { "x-api-key": key, ...session }, "DELETE")).status).toBe(404);
  expect((await request(gateway, "one/mcp", { "x-api-key": key, ...session }, "DELETE")).status).toBe(204);
});

test("revoking a key ends its sessions and streams immediately, and no others", async () => {
  const { gateway, api } = await team();
  const { body } = await api("POST", "/api-keys", { name: "leaves", endpoints: "all" });
  const key: string = body.key;
  const [streamable, sse] = [
    await teamClient(gateway, "one", { key }),
    await teamClient(gateway, "one", { key, way: "sse" }),
  ];
  const stays = await teamClient(gateway, "one", { key: await gateway.key() });
  for (const client of [streamable, sse, stays]) await client.tools();
  const begun = await request(gateway, "one/mcp", { "x-api-key": key });
  const waiting = fetch(`${gateway.url}/metamcp/one/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key, "mcp-session-id": begun.headers["mcp-session-id"] ?? "" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "fix__hang" } }),
  }).then((response) => response.text().catch(() => ""));
  const listening = fetch(`${gateway.url}/metamcp/one/sse`, { headers: { "x-api-key": key } });
  const stream = (await listening).text().catch(() => "");
  expect((await api("DELETE", `/api-keys/${body.uuid}`)).status).toBe(204);
  await stream;
  await waiting;
  await expect(streamable.tools()).rejects.toThrow(/401|key is required/);
  expect((await stays.tools()).length).toBeGreaterThan(0);
});

test("liveness and readiness need no key and name no server", async () => {
  const { gateway } = await team();
  for (const path of ["healthz", "health", "readyz"]) {
    const response = await fetch(`${gateway.url}/${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain("fix");
  }
});
