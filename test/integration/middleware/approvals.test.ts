/**
 * Calls that wait for an approval by another person: on every surface, decided once, at any gateway on the
 * store.
 */

import { describe, expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { metamcp } from "../../support/command.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { apiClient, cookieIn, PASSWORD } from "../../support/people.ts";
import { ADMIN_TOKEN, type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

type Api = TeamGateway["api"];

const approve = (more: object = {}) => [
  { use: "policy", default: "allow", rules: [{ effect: "approve", tools: ["fix:echo"], ...more }] },
];

/** The first call that waits for an approval. */
async function waitingCall(api: Api): Promise<Record<string, never>> {
  const path = "/approvals?state=waiting";
  return await until(async () => (await api("GET", path)).body.items[0], { what: "a call that waits" });
}

async function decide(api: Api, verb: "approve" | "refuse", body?: object): Promise<string> {
  const { uuid } = await waitingCall(api);
  const answer = await api("POST", `/approvals/${String(uuid)}/${verb}`, body);
  expect(answer.status).toBe(200);
  return String(uuid);
}

async function member({ url, api }: TeamGateway, email: string, groups: readonly string[]) {
  const { body } = await api("POST", "/users", { email, role: "member", groups });
  const code: string = body.invitation.url.split("/").at(-1);
  const login = await apiClient(url)("POST", `/invitations/${code}`, { password: PASSWORD });
  const ask = apiClient(url, { cookie: cookieIn(login), origin: url });
  const made = await ask("POST", "/api-keys", { name: `of ${email}`, endpoints: "all" });
  return { ask, key: String(made.body["key"]) };
}

test("a call waits for its approval on every surface and is then made once", async () => {
  const { gateway, key, api, reached } = await layeredTeam({
    endpoint: { openapi: true, middleware: approve() },
  });
  const [aggregate, meta, metatools] = await Promise.all(
    ["aggregate", "meta", "metatools"].map((name) => teamClient(gateway, name, { key })),
  );
  const rest = async () => {
    const answer = await fetch(`${gateway.url}/metamcp/aggregate/api/fix__echo`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: '{"message":"yes"}',
    });
    return await answer.text();
  };
  const args = { message: "yes" };
  const calls: readonly (() => Promise<string> | undefined)[] = [
    () => aggregate?.call("fix__echo", args),
    () => meta?.call("mcp_call", { server: "fix", tool: "echo", args }),
    () =>
      meta?.call("mcp_execute", {
        code: 'return await tools.fix.echo({ message: "yes" })',
        timeoutMs: 1_000,
      }),
    () => metatools?.call("run_tool", { tool_id: "fix:echo", args }),
    () => metatools?.call("run_chain", { steps: [{ tool_id: "fix:echo", args, timeout_ms: 1_000 }] }),
    rest,
  ];
  for (const [at, way] of calls.entries()) {
    const answer = way();
    const one = await waitingCall(api);
    expect(one).toMatchObject({ name: "fix:echo", arguments: args, reason: "policy, rule 1" });
    expect(reached("echo")).toBe(at);
    // Waits longer than the timeout of the code and of the step, which must be paused meanwhile.
    if (one["via"]) await new Promise((resolve) => setTimeout(resolve, 1_200));
    await decide(api, "approve");
    expect(await answer).toContain("yes");
    expect(reached("echo")).toBe(at + 1);
  }
  const { body } = await api("GET", "/approvals");
  expect(body.items).toHaveLength(calls.length);
  const via = body.items.map((one: { via?: string }) => one.via ?? "client");
  expect(via).toEqual(["client", "chain", "client", "code", "client", "client"]);
}, 60_000);

test("a refusal reaches the caller, a second decision is rejected, and the audit log names who decided", async () => {
  const { gateway, key, api, reached } = await layeredTeam({ endpoint: { middleware: approve() } });
  const client = await teamClient(gateway, "aggregate", { key });
  const first = client.call("fix__echo", { message: "no" });
  const uuid = await decide(api, "refuse", { comment: "not today" });
  expect(await first).toMatch(/forbidden.*refused \(not today\)/s);
  for (const verb of ["approve", "refuse"])
    expect((await api("POST", `/approvals/${uuid}/${verb}`)).status).toBe(409);
  expect((await api("POST", "/approvals/00000000-0000-7000-8000-000000000000/approve")).status).toBe(404);
  expect((await api("GET", "/approvals?state=lost")).status).toBe(400);
  expect(reached("echo")).toBe(0);
  const second = client.call("fix__echo", { message: "yes" });
  const yes = await decide(api, "approve");
  expect(await second).toBe("yes");
  const record = await until(
    async () => (await api("GET", "/audit?kind=call&outcome=ok&approvedBy=admin-token")).body.items[0],
  );
  expect(record).toMatchObject({ tool: "echo", approval: { uuid: yes, by: { name: "admin token" } } });
  const acts = (await api("GET", "/audit?objectKind=approval")).body.items;
  expect(acts.map(({ action, object }: never) => [action, object])).toEqual([
    ["approve", { kind: "approval", uuid: yes, name: "fix:echo" }],
    ["refuse", { kind: "approval", uuid, name: "fix:echo" }],
  ]);
  const [call] = (await api("GET", "/calls?outcome=ok")).body.items;
  expect(call).toMatchObject({ approval: { uuid: yes }, layers: [{ use: "policy", outcome: "passed" }] });
});

test("only people named by the rule can decide, and never the caller", async () => {
  const by = { groups: ["leads"] };
  const { gateway, api } = await layeredTeam({ endpoint: { middleware: approve({ by }) } });
  const lead = await member(gateway, "lou@example.org", ["leads"]);
  const asker = await member(gateway, "ada@example.org", ["leads"]);
  const stranger = await member(gateway, "eve@example.org", []);
  const client = await teamClient(gateway, "aggregate", { key: asker.key });
  const answer = client.call("fix__echo", { message: "both" });
  const { uuid } = await waitingCall(api);
  const path = `/approvals/${String(uuid)}/approve`;
  expect((await stranger.ask("GET", "/approvals")).body["items"]).toEqual([]);
  expect((await asker.ask("GET", "/approvals")).body["items"]).toMatchObject([{ decidable: false }]);
  expect((await lead.ask("GET", "/approvals")).body["items"]).toMatchObject([{ uuid, decidable: true }]);
  expect((await stranger.ask("POST", path)).status).toBe(403);
  expect((await asker.ask("POST", path)).status).toBe(403);
  expect((await apiClient(gateway.url, { "x-api-key": asker.key })("POST", path)).status).toBe(401);
  expect((await lead.ask("POST", path)).status).toBe(200);
  expect(await answer).toBe("both");
});

test("an approval is withdrawn with its call, expires, and reports progress while it waits", async () => {
  const middleware = approve({ withinMs: "3s" });
  const { gateway, key, api, reached } = await layeredTeam({ endpoint: { middleware } });
  const client = await teamClient(gateway, "aggregate", { key });
  const change = new AbortController();
  const withdrawn = client.call("fix__echo", { message: "x" }, { signal: change.signal }).catch(String);
  const { uuid } = await waitingCall(api);
  change.abort("changed my mind");
  expect(await withdrawn).toContain("changed my mind");
  const state = async () =>
    (await api("GET", "/approvals")).body.items.find((one: never) => one["uuid"] === uuid);
  await until(async () => (await state()).state === "withdrawn");
  expect((await api("POST", `/approvals/${String(uuid)}/approve`)).status).toBe(409);
  const progress: (string | undefined)[] = [];
  const late = await client.call(
    "fix__echo",
    { message: "x" },
    { onprogress: ({ message }) => progress.push(message) },
  );
  expect(late).toMatch(/nobody approved it in time/);
  expect(progress).toContain("waiting for an approval");
  expect(reached("echo")).toBe(0);
});

test("an approval is published as an event and can be decided with the command line", async () => {
  const folder = temp();
  const { gateway, key, api } = await layeredTeam({ endpoint: { middleware: approve() }, folder });
  const stream = await adminFetch(`${gateway.url}/api/v1/events?types=approval`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  let told = "";
  const reading = (async () => {
    for await (const chunk of stream.body ?? []) told += Buffer.from(chunk).toString();
  })().catch(() => {});
  const client = await teamClient(gateway, "aggregate", { key });
  const answer = client.call("fix__echo", { message: "from a shell" });
  const { uuid } = await waitingCall(api);
  const shell = (...args: string[]) =>
    metamcp({ ...folder, env: { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN } }, [
      "gateway",
      "approvals",
      ...args,
      "--gateway",
      gateway.url,
    ]);
  const list = await shell();
  expect(list.out).toMatch(new RegExp(`fix:echo +\\{"message":"from a shell"\\} .*${String(uuid)}`));
  expect(await shell("approve", String(uuid))).toMatchObject({ code: 0, out: "fix:echo is approved.\n" });
  expect(await answer).toBe("from a shell");
  expect(await shell("refuse", String(uuid))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/already/),
  });
  expect((await shell()).out).toContain("No calls wait");
  expect((await shell("--all", "--json")).out).toContain('"approved"');
  await until(() => /"state":"approved"/.test(told));
  expect(told).toMatch(/"state":"waiting"/);
  expect(told).not.toContain("from a shell");
  await gateway.stop();
  await reading;
});

test("a restart or crash of the gateway withdraws waiting approvals", async () => {
  const folder = temp();
  const { gateway, key, reached } = await layeredTeam({ endpoint: { middleware: approve() }, folder });
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const killed = signal === "SIGKILL" ? await teamProcess(folder) : undefined;
    const running = killed ?? gateway;
    const client = await teamClient(running, "aggregate", { key });
    const answer = client.call("fix__echo", { message: "x" }).catch(String);
    const { uuid } = await waitingCall(running.api);
    await (killed?.kill(signal) ?? gateway.stop());
    // The official client keeps waiting after the process was killed.
    if (signal === "SIGTERM") expect(await answer).toMatch(/stopping|closed|terminated/i);
    const next = await teamGateway(folder);
    const [one] = (await next.api("GET", "/approvals")).body.items;
    expect(one).toMatchObject({ uuid, state: "withdrawn" });
    expect((await next.api("POST", `/approvals/${String(uuid)}/approve`)).status).toBe(409);
    await next.stop();
  }
  expect(reached("echo")).toBe(0);
}, 60_000);

describe.skipIf(noPostgres)(`on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, () => {
  test("a decision at another gateway reaches the waiting call", async () => {
    const { url } = await postgresDatabase();
    const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const [one, two] = [await start(), await start()];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    const endpoint = { name: "team", namespaces: ["team"], surface: "aggregate", middleware: approve() };
    await one.api("POST", "/endpoints", endpoint);
    const key = await one.key();
    const client = await until(() => teamClient(two, "team", { key }).catch(() => undefined));
    const yes = client.call("fix__echo", { message: "far" });
    const uuid = await decide(one.api, "approve");
    expect(await yes).toBe("far");
    expect((await two.api("POST", `/approvals/${uuid}/refuse`)).status).toBe(409);
    const no = client.call("fix__echo", { message: "far" });
    await decide(one.api, "refuse");
    expect(await no).toMatch(/refused/);
    const left = client.call("fix__echo", { message: "far" }).catch(String);
    const gone = await waitingCall(one.api);
    await two.stop();
    await left;
    expect((await one.api("POST", `/approvals/${String(gone["uuid"])}/approve`)).status).toBe(409);
  });
});
