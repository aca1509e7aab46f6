/**
 * Observability of calls: one record per call from every surface and with every outcome, live and afterwards.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { auditRecords, callSummary, recentCalls } from "../../support/records.ts";
import { teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { watchEvents } from "../../support/watch-events.ts";

async function team(surface: string, auditFile?: string) {
  const folder = temp();
  const flags = auditFile === undefined ? [] : ["--audit-file", folder.path(auditFile)];
  const gateway = await teamGateway(folder, { flags });
  const { api } = gateway;
  const server = await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", {
    name: "team",
    servers: [{ server: "fix" }],
    tools: [{ server: "fix", tool: "echo", name: "say" }],
  });
  const endpoint = await api("POST", "/endpoints", {
    name: "team",
    namespaces: ["team"],
    surface,
    openapi: true,
  });
  return { folder, gateway, api, server: server.body, endpoint: endpoint.body, key: await gateway.key() };
}

test("each call on the meta surface has one record under the server's own tool names", async () => {
  const { gateway, key, server, endpoint } = await team("meta");
  const client = await teamClient(gateway, "team", { key });
  await client.call("mcp_discover", { query: "say" });
  await client.call("mcp_call", { server: "fix", tool: "say", args: { message: "hello" } });
  await client.call("mcp_call", { server: "fix", tool: "nothing", args: {} });
  await client.call("mcp_call", { server: "nobody", tool: "x", args: {} });
  await client.call("mcp_call", { server: "fix", tool: "add", args: { a: "no" } });
  await client.call("mcp_call", { sever: "fix" });
  await client.call("mcp_call", { server: "fix", tool: "fail", args: {} });
  await client.call("nonsense").catch(() => {});
  await client.call("mcp_execute", {
    code: 'await tools.fix.say({ message: "a" }); await search({ query: "x" }); return await tools.fix.nope({})',
  });

  const expected = [
    "metamcp:mcp_discover ok",
    "fix:echo ok",
    "fix:nothing refused tool_not_found",
    "nobody:x refused server_not_found",
    "fix:add refused validation_input",
    "metamcp:mcp_call refused validation_input",
    "fix:fail error execution_failed",
    ":nonsense refused tool_not_found",
    "code fix:echo ok",
    "code metamcp:search ok",
    "code fix:nope refused tool_not_found",
    "metamcp:mcp_execute error execution_failed",
  ];
  const recent = await recentCalls(gateway);
  expect(recent.map(callSummary)).toEqual(expected);
  const records = await auditRecords(gateway, "&kind=call", expected.length);
  expect(records.map(callSummary)).toEqual(expected);
  expect(records[1]).toMatchObject({
    kind: "call",
    principal: { kind: "key", name: "a key" },
    client: { name: "team", version: "1.0.0" },
    endpoint: { uuid: endpoint.uuid, name: "team" },
    server: { uuid: server.uuid, name: "fix" },
    surface: "meta",
    arguments: ["message"],
  });
  expect(recent[1]).toMatchObject({ arguments: { message: "hello" }, layers: [] });
  expect(JSON.stringify(records)).not.toContain("hello");
});

test("calls of metatools, chains, aggregate and the HTTP API have one record each", async () => {
  const metatools = await team("metatools");
  const program = await teamClient(metatools.gateway, "team", { key: metatools.key });
  await program.call("search_tools", { query: "say" });
  await program.call("run_tool", { tool_id: "fix:say", args: { message: "hello" } });
  await program.call("run_tool", { tool: "fix:say" });
  await program.call("run_tool", { tool_id: "fix:nothing" });
  const steps = [
    { tool_id: "fix:say", args: { message: "a" } },
    { tool_id: "fix:fail", args: {} },
  ];
  await program.call("run_chain", { steps });
  expect((await recentCalls(metatools.gateway)).map(callSummary)).toEqual([
    "metamcp:search_tools ok",
    "fix:echo ok",
    "metamcp:run_tool refused validation_input",
    "fix:nothing refused tool_not_found",
    "chain fix:echo ok",
    "chain fix:fail error execution_failed",
    "metamcp:run_chain error chain_step_failed",
  ]);

  const { gateway, key } = await team("aggregate");
  const client = await teamClient(gateway, "team", { key });
  await client.call("fix__say", { message: "hello" });
  await client.call("fix__nothing").catch(() => {});
  await client.call("fix__say", { message: 1 });
  const post = (tool: string, body: object) =>
    fetch(`${gateway.url}/metamcp/team/api/${tool}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await post("fix__say", { message: "hello" });
  await post("fix__nothing", {});
  const all = await recentCalls(gateway);
  expect(all.map(callSummary)).toEqual([
    "fix:echo ok",
    ":fix__nothing refused tool_not_found",
    "fix:echo refused validation_input",
    "fix:echo ok",
    ":fix__nothing refused tool_not_found",
  ]);
  expect(all.map(({ surface }) => surface)).toEqual([
    "aggregate",
    "aggregate",
    "aggregate",
    "openapi",
    "openapi",
  ]);
});

test("the audit log is one verified chain, is complete after a stop, and can be filtered", async () => {
  const { folder, gateway, key } = await team("aggregate", "audit.jsonl");
  const client = await teamClient(gateway, "team", { key });
  await client.call("fix__say", { message: "hello" });
  await client.close();
  // The last records are written during the stop.
  await gateway.stop();
  const lines = readFileSync(folder.path("audit.jsonl"), "utf8").trim().split("\n");
  const again = await teamGateway(folder);
  const records = await auditRecords(again, "", lines.length);
  expect(lines.map((line) => JSON.parse(line).kind)).toEqual(records.map(({ kind }) => kind));
  expect(lines.map((line) => JSON.parse(line).kind)).toEqual(["admin", "admin", "admin", "admin", "call"]);
  expect(records[0]).toMatchObject({
    action: "create",
    object: { kind: "server", name: "fix" },
    revision: 1,
    principal: { id: "admin-token", name: "admin token" },
  });
  expect(records[3]).toMatchObject({ action: "create", object: { kind: "api-key", name: "a key" } });
  expect((await again.api("GET", "/audit/verify")).body).toEqual({ ok: true, count: 5 });
  expect((await again.api("GET", "/audit?server=fix")).body.items).toHaveLength(1);
  expect((await again.api("GET", "/audit?kind=admin&objectKind=server")).body.items).toHaveLength(1);
  expect((await again.api("GET", "/audit?from=2100-01-01T00:00:00Z")).body.items).toEqual([]);
  expect((await again.api("GET", "/audit?from=soon")).status).toBe(400);
});

test("the event stream reports calls, sessions, revisions and the steps of a server update", async () => {
  const { gateway, api, key, server } = await team("aggregate");
  const events = await watchEvents(gateway);
  const client = await teamClient(gateway, "team", { key });
  await client.tools();
  await client.call("fix__say", { message: "hello" });
  const { body } = await api("PATCH", `/mcp-servers/${server.uuid}`, fixture("--name", "other"));
  expect(body.connection.state).toBe("idle");
  const steps = await until(
    () => {
      const updates = events.filter(({ type }) => type === "update");
      return updates.some(({ step }) => step === "told") ? updates : undefined;
    },
    { what: "the steps of a changed server" },
  );
  expect(steps.map(({ step }) => step)).toEqual([
    "stored",
    "closed",
    "started",
    "connected",
    "compiled",
    "told",
  ]);
  expect(steps[1].pid).not.toBe(steps[2].pid);
  expect(steps[3].toolCount).toBeGreaterThan(1);
  const call = events.find(({ type }) => type === "call");
  expect(call).toMatchObject({ tool: "echo", outcome: "ok", server: { name: "fix" } });
  expect(JSON.stringify(events.slice(1))).not.toContain("hello");
  expect(events.find(({ type }) => type === "session")).toMatchObject({
    state: "opened",
    client: { name: "team" },
    endpoint: { name: "team" },
  });
  expect(events.some(({ type, by }) => type === "revision" && by === "this")).toBe(true);
});

test("sessions are listed under a hash and can be ended", async () => {
  const { gateway, api, key } = await team("aggregate");
  const client = await teamClient(gateway, "team", { key });
  await client.call("fix__say", { message: "hello" });
  const { items } = (await api("GET", "/sessions")).body;
  expect(items).toMatchObject([
    { endpoint: { name: "team" }, client: { name: "team" }, calls: 1, protocolVersion: "2025-11-25" },
  ]);
  expect((await api("DELETE", "/sessions/unknown")).status).toBe(404);
  expect((await api("DELETE", `/sessions/${items[0].id}`)).status).toBe(204);
  expect((await api("GET", "/sessions")).body.items).toEqual([]);
  await expect(client.call("fix__say", { message: "hello" })).rejects.toThrow(/unknown or expired session/);
});

test("statistics and metrics match the calls", async () => {
  const { gateway, api, key } = await team("aggregate");
  const client = await teamClient(gateway, "team", { key });
  for (let i = 0; i < 5; i++) await client.call("fix__say", { message: "hello" });
  await client.call("fix__is_error");
  for (let i = 0; i < 3; i++) await client.call(`fix__made_up_${i}`).catch(() => {});
  const { body } = await api("GET", "/stats?by=tool");
  expect(body.totals).toMatchObject({ calls: 9, errors: 1, refused: 3 });
  expect(body.rows).toMatchObject([
    { server: { name: "fix" }, tool: "echo", calls: 5 },
    { server: { name: "other" }, tool: "other", calls: 3 },
    { server: { name: "fix" }, tool: "is_error", calls: 1, errors: 1 },
  ]);
  const byEndpoint = (await api("GET", "/stats?per=hour")).body;
  expect(byEndpoint).toMatchObject({ per: "hour", sessions: 1, processes: 1, audit: { lost: 0 } });
  expect(byEndpoint.rows).toMatchObject([
    { endpoint: { name: "team" }, calls: 9, sessions: 1, tokensSaved: 0 },
  ]);
  expect(byEndpoint.series).toHaveLength(48);
  const byServer = (await api("GET", "/stats?by=server")).body;
  expect(byServer.rows).toMatchObject([
    { server: { name: "fix" }, calls: 6, errors: 1, processes: 1 },
    { server: { name: "other" }, calls: 3, refused: 3 },
  ]);
  expect(byServer.rows[0].p95Ms).toBeGreaterThanOrEqual(byServer.rows[0].p50Ms);
  expect((await api("GET", "/stats?by=day")).status).toBe(400);
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text).toContain('metamcp_calls_total{endpoint="team",server="fix",tool="echo",outcome="ok"} 5\n');
  expect(text).toContain(
    'metamcp_calls_total{endpoint="team",server="other",tool="other",outcome="refused"} 3\n',
  );
  expect(text).toContain('metamcp_sessions{endpoint="team"} 1\n');
  expect(text).toContain("metamcp_calls_in_flight 0\n");
  expect(text).not.toContain("made_up");
});

test("the saved tokens are the cost of the full list minus what was listed and searched", async () => {
  const { gateway, api, key } = await team("meta");
  const tokens = async () => (await api("GET", "/stats")).body.totals.tokensSaved;
  const client = await teamClient(gateway, "team", { key });
  // Nothing can be saved before the server's tools are known.
  await client.call("mcp_call", { server: "fix", tool: "say", args: { message: "x" } });
  const before = await tokens();
  await client.tools();
  const listed = await tokens();
  expect(listed - before).toBeGreaterThan(500);
  await client.tools();
  expect(await tokens()).toBe(listed);
  const answer = await client.call("mcp_discover", { query: "say" });
  const searched = await tokens();
  expect(listed - searched).toBeGreaterThanOrEqual(answer.length / 4);
  expect(listed - searched).toBeLessThan(answer.length);
  await client.call("mcp_call", { server: "fix", tool: "say", args: { message: "x" } });
  expect(await tokens()).toBe(searched);
});
