/** From a server that an administrator adds to a client that calls its tool, with real processes. */
import { describe, expect, test } from "vitest";
import { alive } from "../../support/processes.ts";
import { type TeamGateway, teamClient, teamGateway, WAYS } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const RULES = [
  { server: "fix", tool: "echo", name: "say", description: "Says it again." },
  { server: "fix", tool: "add", disabled: true },
  { server: "fix", tool: "args", args: { who: { fixed: "gateway" }, mood: { default: "calm" } } },
];

async function team(surface = "aggregate") {
  const folder = temp();
  return await teamOn(await teamGateway(folder), folder, surface);
}

async function teamOn<G extends TeamGateway>(gateway: G, folder: Temp, surface = "aggregate") {
  const journal = folder.journal();
  const { api } = gateway;
  const server = await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
  const namespace = await api("POST", "/namespaces", {
    name: "team",
    description: "Ask before you write.",
    servers: [{ server: "fix" }],
    tools: RULES,
  });
  const endpoint = await api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface });
  expect([server.status, namespace.status, endpoint.status]).toEqual([201, 201, 201]);
  expect(journal.pids()).toEqual([]);
  return { gateway, api, journal, server: server.body, namespace: namespace.body, endpoint: endpoint.body };
}

test.each(WAYS)("a client over %s lists and calls tools under the names of the namespace", async (way) => {
  const { gateway, journal } = await team();
  const client = await teamClient(gateway, "team", { key: await gateway.key(), way });
  expect(client.instructions).toMatch(/^Ask before you write\./);
  const names = await client.tools();
  expect(names).toContain("fix__say");
  expect(names).not.toContain("fix__echo");
  expect(names).not.toContain("fix__add");
  expect(await client.call("fix__say", { message: "hello" })).toContain("hello");
  for (const hidden of ["fix__add", "fix__echo", "fix__nothing"])
    await expect(client.call(hidden, { a: 1, b: 2, message: "x" })).rejects.toThrow(/Unknown tool/);
  const sent = async (args: Record<string, unknown>): Promise<unknown> => {
    const [, encoded = ""] = (await client.call("fix__args", args)).split("\n");
    return JSON.parse(Buffer.from(encoded, "base64").toString());
  };
  expect(await sent({ own: 1 })).toEqual({ own: 1, who: "gateway", mood: "calm" });
  expect(await sent({ mood: null })).toEqual({ who: "gateway", mood: null });
  expect(await client.call("fix__args", { who: "me" })).toMatch(/^validation_input/);
  expect(journal.pids()).toHaveLength(1);
  const called = journal.events("message").flatMap(({ tool }) => tool ?? []);
  expect(new Set(called)).toEqual(new Set(["echo", "args"]));
});

test("the meta surface finds, describes and calls tools under the names of the namespace, also from code", async () => {
  const { gateway } = await team("meta");
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  const found = await client.call("mcp_discover", { query: "say it again" });
  expect(JSON.parse(found).tools[0]).toMatchObject({ server: "fix", tool: "say" });
  const all = await client.call("mcp_discover", { server: "fix", query: "adds two numbers, echo" });
  expect(all).not.toMatch(/"tool":"(add|echo)"/);
  expect(await client.call("mcp_call", { server: "fix", tool: "say", args: { message: "hi" } })).toContain(
    "hi",
  );
  for (const tool of ["add", "echo"])
    expect(await client.call("mcp_call", { server: "fix", tool, args: {} })).toMatch(/^tool_not_found/);
  const code = 'return await tools.fix.say({ message: "from code" })';
  expect(await client.call("mcp_execute", { code })).toContain("from code");
  for (const hidden of ["add({ a: 1, b: 2 })", 'echo({ message: "x" })'])
    expect(await client.call("mcp_execute", { code: `return await tools.fix.${hidden}` })).toMatch(
      /tool_not_found/,
    );
});

test("a connected client is notified once of each change of its namespace, and no process restarts", async () => {
  const { gateway, api, journal, namespace } = await team();
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  await client.tools();
  const path = `/namespaces/${namespace.uuid}`;
  await api("PATCH", path, { tools: [...RULES, { server: "fix", tool: "pid", name: "which" }] });
  await until(() => client.listChanges === 1);
  const names = await client.tools();
  expect(names).toContain("fix__which");
  expect(names).not.toContain("fix__pid");
  await api("PATCH", path, { tools: [...RULES, { server: "fix", tool: "pid", disabled: true }] });
  await until(() => client.listChanges === 2);
  await expect(client.call("fix__which")).rejects.toThrow(/Unknown tool/);
  await api("PATCH", path, { description: "Another text" });
  await api("PATCH", path, { tools: RULES });
  await until(() => client.listChanges === 3);
  expect(await client.tools()).toContain("fix__pid");
  expect(journal.pids()).toHaveLength(1);
});

test("a changed command replaces the process of a server, a changed description does not", async () => {
  const { gateway, api, journal, server } = await team();
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  const path = `/mcp-servers/${server.uuid}`;
  await client.tools();
  const first = Number(await client.call("fix__pid"));
  const text = await api("PATCH", path, { description: "What it is for" });
  expect(text.body.connection).toMatchObject({ connected: true });
  expect(Number(await client.call("fix__pid"))).toBe(first);

  const { args } = fixture("--journal", journal.file, "--tools", "1");
  const moved = await api("PATCH", path, { args });
  expect(moved.body).toMatchObject({
    message: "Server updated successfully",
    connection: { state: "idle", connected: true },
  });
  const second = Number(await client.call("fix__pid"));
  expect(second).not.toBe(first);
  await until(() => !alive(first));
  await until(() => client.listChanges === 1);
  expect(await client.tools()).toContain("fix__tool_0");
  expect(journal.pids()).toEqual([first, second]);

  const broken = await api("PATCH", path, { command: "/nowhere/to/be/found" });
  expect(broken.status).toBe(200);
  expect(broken.body.connection).toMatchObject({ state: "failed", connected: false });
  await until(() => client.listChanges === 2);
  expect(await client.tools()).toEqual([]);
  const { items } = (await api("GET", `${path}/tools`)).body;
  expect(items[0]).toMatchObject({
    enabled: false,
    because: expect.stringContaining("/nowhere/to/be/found"),
  });

  await api("PATCH", path, { command: process.execPath });
  await until(() => client.listChanges === 3);
  expect(await client.call("fix__say", { message: "back" })).toContain("back");

  await api("PATCH", path, { disabled: true });
  await until(() => client.listChanges === 4);
  expect(await client.tools()).toEqual([]);
  await until(() => journal.pids().every((pid) => !alive(pid)));
});

test("a running call finishes on the old process", async () => {
  const { gateway, api, journal, server } = await team();
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  await client.tools();
  const calling = client.call("fix__sleep", { ms: 3_000 });
  await until(() => journal.events("message").some(({ tool }) => tool === "sleep"));
  const { args } = fixture("--journal", journal.file, "--name", "two");
  await api("PATCH", `/mcp-servers/${server.uuid}`, { args });
  expect(Number(await client.call("fix__pid"))).not.toBe(journal.pids()[0]);
  expect(await calling).not.toMatch(/unavailable/);
  expect(journal.events("message").filter(({ tool }) => tool === "sleep")).toHaveLength(1);
});

test("disabling an endpoint ends its sessions, and administrators can read the stderr of servers", async () => {
  const { gateway, api, endpoint, server, journal } = await team();
  const key = await gateway.key();
  const { args } = fixture("--journal", journal.file, "--stderr", "hello from stderr");
  await api("PATCH", `/mcp-servers/${server.uuid}`, { args });
  await until(async () =>
    (await api("GET", `/mcp-servers/${server.uuid}/logs`)).body.items.some((line: string) =>
      line.includes("hello from stderr"),
    ),
  );
  const client = await teamClient(gateway, "team", { key });
  await client.tools();
  await api("PATCH", `/endpoints/${endpoint.uuid}`, { disabled: true });
  await expect(client.tools()).rejects.toThrow(/404|not found/);
  await api("PATCH", `/endpoints/${endpoint.uuid}`, { disabled: false });
  await expect(client.tools()).rejects.toThrow(/unknown or expired session/);
});

describe("a running call whose endpoint is disabled", () => {
  async function during(calling: (gateway: TeamGateway, key: string) => Promise<unknown>) {
    const { gateway, api, journal, endpoint } = await team();
    await api("PATCH", `/endpoints/${endpoint.uuid}`, { openapi: true });
    const answer = calling(gateway, await gateway.key()).catch((error) => error);
    await until(() => journal.events("message").some(({ tool }) => tool === "sleep"));
    await api("PATCH", `/endpoints/${endpoint.uuid}`, { disabled: true });
    const answered = await answer;
    await until(() => journal.events("cancelled").length === 1);
    return answered;
  }

  test.each(WAYS)("is answered over %s and cancelled", async (way) => {
    const answer = await during(async (gateway, key) => {
      const client = await teamClient(gateway, "team", { key, way });
      return await client.call("fix__sleep", { ms: 50_000 });
    });
    expect(String(answer)).toContain("The endpoint ended its sessions");
  });

  test("is answered over the HTTP API and cancelled", async () => {
    const answer = await during(({ url }, key) =>
      fetch(`${url}/metamcp/team/api/fix__sleep`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ ms: 50_000 }),
      }),
    );
    expect(answer).toMatchObject({ status: 404 });
  });
});

test("SIGTERM ends the gateway with all its children", async () => {
  const folder = temp();
  const { gateway, journal } = await teamOn(await teamProcess(folder), folder);
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  await client.tools();
  expect(await gateway.kill("SIGTERM")).toBe(0);
  expect(journal.pids().some(alive)).toBe(false);
});
