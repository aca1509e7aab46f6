/**
 * Accounts at a running gateway: the first start, what ends when an account is disabled, and what keys open.
 */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { metamcp } from "../../support/command.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { apiClient, cookieIn, PASSWORD } from "../../support/people.ts";
import { ADMIN_TOKEN, type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const ADA = { email: "ada@example.org", password: PASSWORD };
const LINK = /http\S+\/setup\?code=([\w-]+)/;

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function statusOfInitialize({ url }: TeamGateway, endpoint: string, headers: object): Promise<number> {
  const response = await fetch(`${url}/metamcp/${endpoint}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(INITIALIZE),
  });
  await response.text();
  return response.status;
}

/** A gateway without an admin token. */
const withoutToken = (folder: Temp) => teamGateway(folder, { env: { METAMCP_ADMIN_TOKEN: "" } });

async function team(folder = temp()) {
  const gateway = await teamGateway(folder);
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const endpoint = async (name: string, access: object) =>
    await api("POST", "/endpoints", { name, namespaces: ["team"], surface: "aggregate", access });
  await endpoint("main", {});
  await endpoint("ops", { allow: { groups: ["ops"] } });
  await endpoint("edit", { allow: { roles: ["editor"] } });
  await endpoint("none", { allow: {} });
  const { body: ada } = await api("POST", "/users", { email: ADA.email, role: "member" });
  await endpoint("named", { allow: { users: ["ada@example.org"] } });
  const code: string = ada.invitation.url.split("/").at(-1);
  const login = await apiClient(gateway.url)("POST", `/invitations/${code}`, { password: PASSWORD });
  const cookie = cookieIn(login);
  const ask = apiClient(gateway.url, { cookie, origin: gateway.url });
  const key: string = (await ask("POST", "/api-keys", { name: "mine", endpoints: "all" })).body["key"] ?? "";
  return { gateway, api, ada: ada.uuid as string, cookie, ask, key };
}

test("each start prints a new setup link until the first account is created", async () => {
  const folder = temp();
  const first = await withoutToken(folder);
  const old = await until(() => LINK.exec(first.stderr)?.[1], { what: "the link" });
  expect((await adminFetch(`${first.url}/api/v1/me`)).status).toBe(401);
  await first.stop();
  const second = await withoutToken(folder);
  const code = await until(() => LINK.exec(second.stderr)?.[1], { what: "the link" });
  const ask = apiClient(second.url);
  expect((await ask("POST", "/setup", { code: old, ...ADA })).status).toBe(404);
  const made = await ask("POST", "/setup", { code, ...ADA });
  expect(made.body).toMatchObject({ role: "admin" });
  const cookie = cookieIn(made);
  expect((await ask("GET", "/me", undefined, { cookie })).body).toMatchObject({ role: "admin" });
  await second.stop();
  const third = await withoutToken(folder);
  expect(cookieIn(await apiClient(third.url)("POST", "/login", ADA))).not.toBe("");
  expect(third.stderr).not.toMatch(LINK);
  expect((await apiClient(third.url)("GET", "/me", undefined, { cookie })).status).toBe(200);
});

test("with an admin token no setup link is printed", async () => {
  const gateway = await teamGateway(temp());
  await gateway.api("GET", "/me");
  expect(gateway.stderr).not.toMatch(/setup\?code/);
});

test("the key of an account opens the endpoints that the account may currently use", async () => {
  const { gateway, api, ada, key } = await team();
  const all = ["main", "ops", "named", "edit", "none"];
  const statuses = () =>
    Promise.all(all.map((name) => statusOfInitialize(gateway, name, { "x-api-key": key })));
  expect(await statuses()).toEqual([200, 404, 200, 404, 404]);
  await api("PATCH", `/users/${ada}`, { groups: ["ops"], role: "admin" });
  expect(await statuses()).toEqual([200, 200, 200, 200, 404]);
  const ownerless = await gateway.key();
  expect(await statusOfInitialize(gateway, "none", { "x-api-key": ownerless })).toBe(200);
});

test("keys with a role open only the admin API, keys with endpoints only those, and a cookie opens no endpoint", async () => {
  const { gateway, api, cookie } = await team();
  const role: string = (await api("POST", "/api-keys", { name: "r", role: "viewer" })).body.key;
  const stranger = await statusOfInitialize(gateway, "main", {});
  expect(stranger).toBe(401);
  for (const headers of [
    { "x-api-key": role },
    { authorization: `Bearer ${role}` },
    { authorization: `Bearer ${ADMIN_TOKEN}` },
    { cookie },
    { cookie, origin: gateway.url },
  ])
    expect(await statusOfInitialize(gateway, "main", headers)).toBe(401);
  const ask = apiClient(gateway.url);
  expect((await ask("GET", "/namespaces", undefined, { "x-api-key": role })).status).toBe(200);
  expect((await ask("GET", "/namespaces", undefined, { "x-api-key": await gateway.key() })).status).toBe(401);
});

test("disabling an account ends its cookies, sessions and streams immediately", async () => {
  const { gateway, api, ada, key, ask } = await team();
  const client = await teamClient(gateway, "main", { key });
  const stream = await fetch(`${gateway.url}/metamcp/main/sse`, { headers: { "x-api-key": key } });
  const ended = stream.text().catch(() => "");
  const stays = await teamClient(gateway, "main", { key: await gateway.key() });
  expect((await api("PATCH", `/users/${ada}`, { disabled: true })).status).toBe(200);
  await ended;
  await expect(client.tools()).rejects.toThrow(/401|key is required/);
  expect((await ask("GET", "/me")).status).toBe(401);
  expect((await apiClient(gateway.url)("POST", "/login", ADA)).status).toBe(401);
  expect((await stays.tools()).length).toBeGreaterThan(0);
  await api("PATCH", `/users/${ada}`, { disabled: false });
  expect((await ask("GET", "/me")).status).toBe(401);
});

test("an expired key ends its open streams without a further request", async () => {
  const { gateway, api } = await team();
  const expiresAt = new Date(Date.now() + 1_500).toISOString();
  const { body } = await api("POST", "/api-keys", { name: "short", endpoints: ["main"], expiresAt });
  const stream = await fetch(`${gateway.url}/metamcp/main/sse`, { headers: { "x-api-key": body.key } });
  expect(stream.status).toBe(200);
  await stream.text().catch(() => "");
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
  expect(await statusOfInitialize(gateway, "main", { "x-api-key": body.key })).toBe(401);
});

test("the last use of a key is stored when the gateway stops", async () => {
  const folder = temp();
  const { gateway, key, api } = await team(folder);
  await statusOfInitialize(gateway, "main", { "x-api-key": key });
  expect((await api("GET", "/api-keys")).body.items[0].lastUsedAt).toBeUndefined();
  await gateway.stop();
  const again = await teamGateway(folder);
  expect((await again.api("GET", "/api-keys")).body.items[0].lastUsedAt).toMatch(/^\d{4}-/);
});

test("metamcp gateway users and keys manage accounts and keys", async () => {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const env = { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN };
  const run = async (...argv: string[]) =>
    await metamcp({ ...folder, env }, ["gateway", ...argv, "--gateway", gateway.url]);
  const invited = await run("users", "invite", "bob@example.org", "--role", "editor", "--group", "ops");
  expect(invited).toMatchObject({ code: 0, out: expect.stringMatching(/\/invitations\/[\w-]{43}/) });
  expect((await run("users")).out).toMatch(/bob@example\.org +editor +ops +invited/);
  expect(await run("users", "disable", "bob@example.org")).toMatchObject({ code: 0 });
  expect((await run("users", "list", "--json")).out).toContain('"disabled"');
  const made = await run("keys", "create", "ci", "--role", "viewer", "--owner", "bob@example.org");
  expect(made.out).toMatch(/^mmcp_/);
  expect((await run("keys")).out).toMatch(/ci +mmcp_\S+ +admin API as viewer/);
  expect(await run("users", "delete", "bob@example.org")).toMatchObject({ code: 0 });
  expect((await run("keys")).out).toMatch(/No keys yet/);
  expect((await run("users", "delete", "bob@example.org")).code).toBe(1);
  expect((await run("users", "nonsense")).code).toBe(2);
});

test("a member sees only the endpoints that they may use", async () => {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await api("POST", "/endpoints", { name: "open" });
  await api("POST", "/endpoints", { name: "off", disabled: true });
  const { body: closed } = await api("POST", "/endpoints", {
    name: "closed",
    access: { allow: { groups: ["staff"] } },
  });
  const { body: staff } = await api("POST", "/endpoints", {
    name: "staff",
    access: { allow: { groups: ["ops"] } },
  });
  const { ask } = await teamPerson(gateway, "member", { groups: ["ops"] });
  const { body } = await ask("GET", "/me/endpoints?limit=10");
  expect(body.items).toMatchObject([
    { name: "open", url: `${gateway.url}/metamcp/open/mcp` },
    { name: "staff", uuid: staff.uuid },
  ]);
  expect((await ask("GET", `/endpoints/${staff.uuid}/clients`)).status).toBe(200);
  const hidden = await ask("GET", `/endpoints/${closed.uuid}/clients`);
  const unknown = await ask("GET", "/endpoints/nowhere/clients");
  expect([hidden.status, unknown.status]).toEqual([404, 404]);
  expect(JSON.stringify(hidden.body)).toBe(JSON.stringify(unknown.body).replaceAll("nowhere", closed.uuid));
});
