/**
 * Tools for administrators: calling a tool of a server, the self-test of an endpoint, and the settings for
 * clients.
 */
import { expect, test } from "vitest";
import { teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

async function team(access: object = {}) {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder);
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
  const tools = [{ server: "fix", tool: "echo", disabled: true }];
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }], tools });
  const fields = {
    name: "team",
    namespaces: ["team"],
    surface: "aggregate",
    access: { oauth: false, ...access },
  };
  await api("POST", "/endpoints", fields);
  return { gateway, api, journal };
}

test("the inspector calls a tool under its original name and always answers with a result", async () => {
  const { api } = await team();
  const call = (tool: string, body?: object) => api("POST", `/mcp-servers/fix/tools/${tool}/call`, body);
  const answer = await call("echo", { args: { message: "hello" } });
  expect(answer).toEqual({ status: 200, body: { content: [{ type: "text", text: "hello" }] } });
  for (const [tool, args, code] of [
    ["nothing", {}, "tool_not_found"],
    ["echo", {}, "validation_input"],
    ["fail", { message: "no" }, "execution_failed"],
    ["crash", {}, "server_unavailable"],
  ] as const) {
    const { status, body } = await call(tool, { args });
    expect([status, body.isError]).toEqual([200, true]);
    expect(JSON.stringify(body)).toContain(code);
    expect(JSON.stringify(body)).toContain('"server":"fix"');
    expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
  }
  expect((await call("pid")).body.content).toHaveLength(1);
  expect((await call("echo", { arguments: {} })).status).toBe(422);
  expect((await api("POST", "/mcp-servers/none/tools/echo/call", {})).status).toBe(404);
});

test("the inspector applies the layers of the server", async () => {
  const { api, journal } = await team();
  const call = async (tool: string, args: object) =>
    JSON.stringify((await api("POST", `/mcp-servers/fix/tools/${tool}/call`, { args })).body);
  await api("PATCH", "/mcp-servers/fix", {
    middleware: [
      { use: "filter", deny: ["fix:pid"] },
      { use: "rate-limit", requests: 1, per: "60s" },
    ],
  });
  expect(await call("pid", {})).toContain("tool_not_found");
  expect(await call("echo", { message: "one" })).toContain("one");
  expect(await call("echo", { message: "two" })).toContain("rate_limited");
  expect(journal.events("message").filter(({ tool }) => tool !== undefined)).toHaveLength(1);
});

test("a call of the inspector that is denied while it waits in a queue does not reach the server", async () => {
  const { gateway, api, journal } = await team();
  const queue = { use: "concurrency", max: 1, queue: 1, by: "server" };
  const reached = (wanted: string) => journal.events("message").some(({ tool }) => tool === wanted);
  await api("PATCH", "/mcp-servers/fix", { middleware: [queue] });
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  const stopping = new AbortController();
  client.call("fix__hang", {}, stopping).catch(() => {});
  await until(() => reached("hang"));
  const answer = api("POST", "/mcp-servers/fix/tools/echo/call", { args: { message: "late" } });
  await until(async () => {
    const { body } = await api("POST", "/endpoints/team/explain", { tool: "fix:pid" });
    return JSON.stringify(body).includes("calls run already");
  });
  await api("PATCH", "/mcp-servers/fix", { middleware: [{ use: "filter", deny: ["fix:echo"] }, queue] });
  stopping.abort();
  expect(JSON.stringify((await answer).body)).toContain("tool_not_found");
  expect(reached("echo")).toBe(false);
});

test("each client gets settings in its own format, with a placeholder for the key", async () => {
  const { gateway, api } = await team();
  const { body } = await api("GET", "/endpoints/team/clients");
  expect(body.url).toBe(`${gateway.url}/metamcp/team/mcp`);
  const texts = new Map<string, string>(
    body.items.map(({ client, text }: { client: string; text: string }) => [client, text]),
  );
  expect(texts.size).toBe(12);
  for (const [client, text] of texts) {
    expect([client, text.includes(body.url), text.includes("KEY")]).toEqual([client, true, true]);
    if (client !== "codex") expect(() => JSON.parse(text) as unknown).not.toThrow();
  }
  expect(texts.get("codex")).toContain("[mcp_servers.team]");
  expect(JSON.parse(texts.get("vscode") ?? "").servers.team).toEqual({
    type: "http",
    url: body.url,
    headers: { "X-API-Key": "KEY" },
  });
  await api("PATCH", "/endpoints/team", { access: { public: true } });
  const open = await api("GET", "/endpoints/team/clients");
  expect(JSON.stringify(open.body)).not.toContain("X-API-Key");
});

test("the self-test performs the steps of a client, leaves no session, and names the step that fails", async () => {
  const { gateway, api } = await team();
  await api("PATCH", "/endpoints/team", { limits: { sessions: 1 } });
  const steps = async () => {
    const { status, body } = await api("POST", "/endpoints/team/self-test");
    expect(status).toBe(200);
    expect(body.ok).toBe(body.steps.every(({ ok }: { ok: boolean }) => ok));
    return body.steps as { step: string; ok: boolean; detail: string }[];
  };
  const good = await steps();
  expect(good.map(({ step, ok }) => [step, ok])).toEqual([
    ["discovery", true],
    ["initialize", true],
    ["list", true],
  ]);
  expect(good[2]?.detail).toMatch(/^\d+ tools$/);
  expect((await steps()).every(({ ok }) => ok)).toBe(true);
  const client = await teamClient(gateway, "team", { key: await gateway.key() });
  const full = await steps();
  expect(full.map(({ ok }) => ok)).toEqual([true, false, false]);
  expect(full[1]?.detail).toContain("429");
  expect(full[2]?.detail).toMatch(/^not tried/);
  await client.close();
  await api("PATCH", "/endpoints/team", { limits: { sessions: null } });
  await api("PATCH", "/mcp-servers/fix", { command: "/nowhere/to/be/found" });
  expect((await steps())[2]).toMatchObject({
    ok: false,
    detail: expect.stringContaining("/nowhere/to/be/found"),
  });
  await api("PATCH", "/endpoints/team", { disabled: true });
  expect((await steps())[0]).toMatchObject({ ok: false, detail: expect.stringContaining("disabled") });
});

test("the self-test of a public endpoint needs no login, and with OAuth it checks the metadata", async () => {
  const { api } = await team({ public: true });
  const open = await api("POST", "/endpoints/team/self-test");
  expect(open.body.ok).toBe(true);
  expect(open.body.steps[0].detail).toContain("open to everyone");
  const bare = fixture("--bare", "--tools", "501");
  await api("PATCH", "/mcp-servers/fix", { command: bare.command, args: bare.args });
  // A page has 500 tools.
  const { body: paged } = await api("POST", "/endpoints/team/self-test");
  expect(paged.steps.at(-1)).toMatchObject({ step: "list", ok: true, detail: "501 tools" });
  await api("PATCH", "/endpoints/team", { access: { public: false, oauth: true } });
  const { body } = await api("POST", "/endpoints/team/self-test");
  expect(body.steps.map(({ step }: { step: string }) => step)).toContain("login metadata");
});
