/** The audit log: each call once, with its caller and outcome, and without values that a layer removed. */

import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/store/sqlite/connect.ts";
import { adminFetch } from "../../support/admin-answers.ts";
import { metamcp } from "../../support/command.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { type LayeredTeam, layeredTeam, layersOn } from "../../support/layered-team.ts";
import { auditRecords, callSummary, type Row, recentCalls } from "../../support/records.ts";
import { ADMIN_TOKEN, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { ROOT, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const SECRET = "ghp_0123456789abcdefABCDEF0123456789abcd";
const MAIL = "ada@example.org";
const FULL = { use: "audit", arguments: "full", results: "full" };
const MASKS = [
  { use: "redact", detect: ["email"] },
  { use: "redact", detect: ["secrets"] },
];

/**
 * Returns a function that calls `echo` with a secret and an email address through the given layers, and
 * returns the record.
 */
async function recorder(): Promise<
  (endpoint: readonly object[], server?: readonly object[]) => Promise<Row>
> {
  const { gateway, api, key } = await layeredTeam();
  const client = await teamClient(gateway, "aggregate", { key });
  let count = 0;
  return async (endpoint, server = []) => {
    await api("PATCH", "/endpoints/aggregate", { middleware: endpoint });
    await api("PATCH", "/mcp-servers/fix", { middleware: server });
    await client.call("fix__echo", { message: `${SECRET} of ${MAIL}` });
    const records = await auditRecords(gateway, "&kind=call", ++count);
    const recent = await recentCalls(gateway);
    expect(JSON.stringify([records, recent])).not.toContain(SECRET);
    expect(JSON.stringify([records, recent])).not.toContain(MAIL);
    return records.at(-1) as Row;
  };
}

test("recorded values are redacted, in every order of the layers", async () => {
  const record = await recorder();
  const masked = { arguments: { message: "[secret] of [email]" } };
  expect(await record([FULL, ...MASKS])).toMatchObject(masked);
  expect(await record([...MASKS, FULL])).toMatchObject(masked);
  expect(await record(MASKS, [FULL])).toMatchObject(masked);
  expect(await record([FULL], MASKS)).toMatchObject({
    ...masked,
    results: { content: [{ type: "text", text: "[secret] of [email]" }] },
  });
});

test("the record of a refused call contains no values that an inner layer would have redacted", async () => {
  const record = await recorder();
  const rules = [{ effect: "deny", args: { message: { glob: "*" } } }];
  const policy = { use: "policy", default: "allow", rules };
  const [mails = {}, secrets = {}] = MASKS;
  expect(await record([FULL, mails, policy, secrets])).toMatchObject({
    outcome: "refused",
    code: "forbidden",
    by: "policy",
    arguments: { message: "[secret] of [email]" },
  });
  const blocked = await record([FULL, mails, { ...secrets, action: "block" }]);
  expect(blocked).toMatchObject({
    outcome: "refused",
    by: "redact",
    arguments: { message: "[secret] of [email]" },
  });
});

test("the record of a cached answer has the arguments as the server received them", async () => {
  const readOnly = { tools: [{ server: "fix", tool: "echo", annotations: { readOnlyHint: true } }] };
  const endpoint = { middleware: [FULL, { use: "cache", ttlMs: 60_000 }, ...MASKS] };
  const team = await layeredTeam({ endpoint, namespace: readOnly });
  const client = await teamClient(team.gateway, "aggregate", { key: team.key });
  for (let i = 0; i < 2; i++) await client.call("fix__echo", { message: SECRET });
  const records = await auditRecords(team.gateway, "&kind=call", 2);
  expect(records).toMatchObject([
    { arguments: { message: "[secret]" } },
    { arguments: { message: "[secret]" }, cached: true },
  ]);
  expect(team.reached("echo")).toBe(1);
});

test("a blocked result is recorded as an error, not as a refusal, because the server was called", async () => {
  const team = await layeredTeam({
    endpoint: { middleware: [{ use: "redact", detect: ["email"], in: ["results"], action: "block" }] },
  });
  const client = await teamClient(team.gateway, "aggregate", { key: team.key });
  await client.call("fix__echo", { message: MAIL });
  const [record] = await auditRecords(team.gateway, "&kind=call");
  expect(record).toMatchObject({ outcome: "error", code: "forbidden", by: "redact" });
  expect(record).not.toHaveProperty("results");
});

test("calls rejected by the limits of an endpoint are recorded for every transport", async () => {
  const team = await layeredTeam({ endpoint: { openapi: true } });
  const { gateway, api, key, journal } = team;
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "x" });
  const sse = await teamClient(gateway, "aggregate", { key, way: "sse" });
  await api("PATCH", "/endpoints/aggregate", { limits: { inFlight: 1 } });
  void client.call("fix__hang").catch(() => {});
  await until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  await expect(sse.call("fix__echo", { message: "x" })).rejects.toThrow();
  const stateless = await teamClient(gateway, "aggregate", { key, way: "2026-07-28" }).catch(() => undefined);
  expect(stateless).toBeUndefined();
  const rest = await fetch(`${gateway.url}/metamcp/aggregate/api/fix__echo`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key },
    body: "{}",
  });
  expect(rest.status).toBe(429);
  const records = await auditRecords(gateway, "&kind=call&by=limits", 2);
  expect(records.map(callSummary)).toEqual([
    ":fix__echo refused rate_limited",
    ":fix__echo refused rate_limited",
  ]);
  expect(records.map(({ surface }) => surface)).toEqual(["aggregate", "openapi"]);
});

/** Calls unknown names, a hundred per request. */
async function flood(url: string, headers: Readonly<Record<string, string>>, calls: number): Promise<void> {
  const post = (body: unknown, more = {}): Promise<Response> =>
    fetch(url, { method: "POST", headers: { ...HEADERS, ...headers, ...more }, body: JSON.stringify(body) });
  const clientInfo = { name: "flood", version: "1" };
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo };
  const opened = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  for (let id = 1; id <= calls; id += 100) {
    const batch = Array.from({ length: 100 }, (_, n) => ({
      jsonrpc: "2.0",
      id: id + n,
      method: "tools/call",
      params: { name: `unknown_${id + n}`, arguments: {} },
    }));
    await (await post(batch, session)).text();
  }
}

test("a flood of refused calls is counted in few records, and displaces and delays no record of others", async () => {
  const { gateway, api, key } = await layeredTeam();
  await api("PATCH", "/endpoints/meta", {
    surface: "aggregate",
    middleware: [{ use: "audit", required: true }],
  });
  await api("PATCH", "/endpoints/metatools", { surface: "aggregate", access: { public: true } });
  const other = await gateway.key();
  const client = await teamClient(gateway, "aggregate", { key: other });
  const strict = await teamClient(gateway, "meta", { key: other });
  const of = (endpoint: string): string => `${gateway.url}/metamcp/${endpoint}/mcp`;
  const floods = Promise.all([
    flood(of("aggregate"), { "x-api-key": key }, 3_000),
    flood(of("metatools"), {}, 3_000),
  ]);
  for (let n = 0; n < 10; n++) {
    expect(await client.call("fix__echo", { message: "x" })).toBe("x");
    expect(await strict.call("fix__echo", { message: "x" })).toBe("x");
    const stored = await api("GET", "/audit?kind=call&endpoint=meta&outcome=ok");
    expect(stored.body.items).toHaveLength(n + 1);
  }
  await floods;
  expect(await auditRecords(gateway, "&kind=call&endpoint=aggregate&outcome=ok", 10)).toHaveLength(10);
  for (const endpoint of ["aggregate", "metatools"]) {
    const counted = async (): Promise<readonly Row[]> =>
      (await api("GET", `/audit?endpoint=${endpoint}&outcome=refused&limit=500`)).body.items;
    const total = async (): Promise<number> =>
      (await counted()).reduce((sum, { count = 1 }) => sum + Number(count), 0);
    await until(async () => (await total()) >= 3_000);
    expect(await total()).toBe(3_000);
    expect((await counted()).length).toBeLessThan(300);
  }
  const begun = (await api("GET", "/audit?kind=begun&limit=500")).body.items as readonly Row[];
  const ended = (await api("GET", "/audit?kind=call&endpoint=meta&limit=500")).body.items as readonly Row[];
  expect(begun.map(({ call }) => call)).toEqual(ended.map(({ call }) => call));
  expect((await api("GET", "/stats")).body.audit).toMatchObject({ lost: 0 });
});

test("verify counts calls that began and have no outcome, also after the gateway was killed", async () => {
  const folder = temp();
  const { gateway, api, key, journal } = await layersOn(await teamProcess(folder), {
    folder,
    endpoint: { middleware: [{ use: "audit", required: true, arguments: "full" }] },
  });
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "x" });
  expect((await api("GET", "/audit/verify")).body).toEqual({ ok: true, count: expect.any(Number) as number });
  const cut = client.call("fix__hang").catch(() => "cut");
  await until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  const [begun] = (await api("GET", "/audit?kind=begun&tool=hang")).body.items as readonly Row[];
  expect(begun).toMatchObject({ kind: "begun", tool: "hang" });
  await gateway.kill("SIGKILL");
  expect(await cut).toBe("cut");

  const next = await teamGateway(folder);
  const later = await teamClient(next, "aggregate", { key });
  // An argument that looks like the member of an outcome ends no other call.
  await later.call("fix__echo", { message: "x", call: begun?.["call"] });
  expect((await next.api("GET", "/audit/verify")).body).toMatchObject({ ok: true, unfinished: 1 });
});

async function oneOfEach(): Promise<LayeredTeam & { readonly call: Row }> {
  const team = await layeredTeam({
    endpoint: { middleware: [{ use: "filter", deny: ["fix:env"] }] },
  });
  const { gateway, key } = team;
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "x" });
  await client.call("fix__count_safe", { key: "k", crashes: 1 });
  await auditRecords(gateway, "&kind=call&tool=count_safe");
  const [call] = (await auditRecords(gateway, "&kind=call&tool=echo")) as [Row];
  return { ...team, call };
}

test("the audit log can be filtered by each field and by time, and is paged", async () => {
  const { api, call } = await oneOfEach();
  const { principal, endpoint, server, client, session } = call as Row & {
    principal: { id: string; kind: string; name: string; key: { id: string } };
    endpoint: { uuid: string };
    server: { uuid: string };
    client: { name: string };
    session: string;
  };
  const seqs = async (query: string): Promise<readonly number[]> => {
    const { status, body } = await api("GET", `/audit?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return body.items.map(({ seq }: { seq: number }) => seq);
  };
  const mine = Number(call["seq"]);
  const fields = {
    kind: "call",
    principal: principal.id,
    principalKind: "key",
    principalName: "a key",
    key: principal.key.id,
    client: client.name,
    session,
    surface: "aggregate",
    tool: "echo",
    outcome: "ok",
  };
  for (const [name, value] of Object.entries(fields)) {
    expect(await seqs(`${name}=${encodeURIComponent(value)}`), name).toContain(mine);
    if (name === "kind" || name === "outcome")
      expect((await api("GET", `/audit?${name}=none`)).status).toBe(400);
    else expect(await seqs(`${name}=none`), name).toEqual([]);
  }
  for (const query of [
    `endpoint=${endpoint.uuid}`,
    "endpoint=aggregate",
    `server=${server.uuid}`,
    "server=fix&tool=echo&outcome=ok",
  ])
    expect(await seqs(query), query).toContain(mine);
  expect(await seqs("attempts=2&tool=count_safe")).toHaveLength(1);
  expect(await seqs("kind=admin&action=create&objectKind=server&object=fix&revision=1")).toEqual([1]);
  const all = await seqs("limit=500");
  expect(all).toEqual(all.toSorted((a, b) => b - a));
  expect(await seqs(`after=${mine}`)).toEqual(all.filter((seq) => seq > mine));
  const at = String(call["at"]);
  expect(await seqs(`from=${at}&kind=call`)).toContain(mine);
  expect(await seqs(`to=${at}`)).not.toContain(mine);
  const first = (await api("GET", "/audit?limit=2")).body;
  const next = (await api("GET", `/audit?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body;
  const paged = [...first.items, ...next.items].map(({ seq }: { seq: number }) => seq);
  expect(paged).toEqual(all.slice(0, 4));
});

test("metamcp gateway audit lists, filters, follows and verifies records", async () => {
  const folder = temp();
  const { gateway, key } = await layeredTeam({ folder, flags: ["--audit-file", folder.path("audit.jsonl")] });
  const env = { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN, METAMCP_GATEWAY: gateway.url };
  const run = (...args: string[]) => metamcp({ ...folder, env }, ["gateway", "audit", ...args]);
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "x" });
  await client.call("fix__is_error");
  await auditRecords(gateway, "&kind=call", 2);
  const shown = await run("--kind", "call");
  expect(shown.out).toMatch(/fix:echo +ok +\d+\n.*fix:is_error +error execution_failed +\d+\n/);
  const found = await run("--json", "--where", "code=execution_failed", "--where", "principalName=a key");
  expect(JSON.parse(found.out).items).toMatchObject([{ tool: "is_error" }]);
  expect((await run("--where", "nothing")).code).toBe(2);
  expect((await run("--where", "nothing=x")).err).toContain('unknown query parameter "nothing"');

  const following = spawn(
    process.execPath,
    [join(ROOT, "dist/metamcp.js"), "gateway", "audit", "--follow", "--json", "--tool", "add"],
    { cwd: folder.path("."), env, stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void following.kill("SIGKILL"));
  let output = "";
  following.stdout.on("data", (chunk: Buffer) => (output += chunk));
  const lines = () =>
    output
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  for (let n = 1; n <= 3; n++) {
    await client.call("fix__add", { a: n, b: n });
    await until(() => lines().length === n, { what: "a record to be told" });
  }
  expect(lines().map(({ tool }) => tool)).toEqual(["add", "add", "add"]);

  const verified = await run("verify");
  expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/^All \d+ records are unchanged/)]);
  await gateway.stop();
  const file = folder.path("audit.jsonl");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).tool)
      .filter(Boolean),
  ).toEqual(["echo", "is_error", "add", "add", "add"]);
  const database = await connect(join(folder.home, "gateway/gateway.db"));
  database
    .prepare("UPDATE metamcp_audit SET lines = replace(lines, 'echo', 'env') WHERE lines LIKE '%echo%'")
    .run([]);
  database.close();
  const again = await teamGateway(folder);
  const tampered = await metamcp({ ...folder, env: { ...env, METAMCP_GATEWAY: again.url } }, [
    "gateway",
    "audit",
    "verify",
  ]);
  expect([tampered.code, tampered.out]).toEqual([
    1,
    expect.stringMatching(/^Tampered: record \d+ was changed/),
  ]);
});

test("the gateway does not start if the audit file cannot be written", async () => {
  const folder = temp();
  await expect(teamGateway(folder, { flags: ["--audit-file", "no/such/folder/a.jsonl"] })).rejects.toThrow(
    /audit file no\/such\/folder\/a\.jsonl cannot be written/,
  );
});

test("admins read records with values, viewers without values, and members none", async () => {
  const team = await layeredTeam({ endpoint: { middleware: [FULL] } });
  const { gateway, api, key } = team;
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "hello" });
  await auditRecords(gateway, "&kind=call");
  const as = async (role: string, path: string) => {
    const { body } = await api("POST", "/api-keys", { name: role, role });
    const headers = { authorization: `Bearer ${body.key}` };
    const answer = await adminFetch(`${gateway.url}/api/v1${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  for (const path of ["/audit?kind=call", "/calls"]) {
    expect((await as("admin", path)).text).toContain("hello");
    const viewer = await as("viewer", path);
    expect([viewer.status, viewer.text.includes('"echo"'), viewer.text.includes("hello")]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await as("member", path)).status).toBe(403);
  }
});
