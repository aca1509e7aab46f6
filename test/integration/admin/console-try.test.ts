/**
 * Trying an endpoint from the console: the same path as a client's call, with live events and the rights of
 * the user.
 */
import { expect, test } from "vitest";
import { readEvents } from "../../support/event-reader.ts";
import { layeredTeam, SURFACES } from "../../support/layered-team.ts";
import { apiClient } from "../../support/people.ts";
import { ADMIN_TOKEN } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { until } from "../../support/until.ts";

const AUDITED = { endpoint: { middleware: [{ use: "timeout", timeoutMs: "60s" }, { use: "audit" }] } };

test.each(SURFACES)(
  "a tool given by server and name is called through the tools of the %s surface",
  async (surface) => {
    const team = await layeredTeam({
      ...AUDITED,
      namespace: { tools: [{ server: "fix", tool: "echo", name: "say" }] },
    });
    const ada = await teamPerson(team.gateway, "member");
    const tried = await ada.watch("POST", `/endpoints/${surface}/try`, {
      server: "fix",
      tool: "say",
      args: { message: "hello" },
    });
    const { result, calls, ms } = await tried.next("result");
    expect(JSON.stringify(result)).toContain("hello");
    expect(result.isError).not.toBe(true);
    expect(ms).toBeGreaterThanOrEqual(0);
    const begun = await tried.next("begun");
    const names = { meta: "mcp_call", metatools: "run_tool", aggregate: "fix__say" };
    expect(begun.request.params.name).toBe(names[surface]);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      principal: { kind: "account", id: ada.uuid, name: ada.email },
      client: { name: "metamcp-console" },
      endpoint: { name: surface },
      server: { name: "fix" },
      tool: "echo",
      outcome: "ok",
      layers: [{ use: "timeout" }, { use: "audit" }],
    });
    const { body: known } = await team.api("GET", `/calls/${calls[0].id}`);
    expect(known).toMatchObject({ ...calls[0], arguments: { message: "hello" } });
    expect(calls[0].arguments).toBeUndefined();
    await until(() => tried.ended, { what: "the end of the stream" });
    expect((await team.api("GET", "/sessions")).body.items).toEqual([]);
    // The request that a client would send works too.
    const again = await ada.watch("POST", `/endpoints/${surface}/try`, {
      name: begun.request.params.name,
      args: begun.request.params.arguments,
    });
    expect(JSON.stringify((await again.next("result")).result)).toContain("hello");
  },
);

test("progress, log messages and questions are streamed, and only the user who began can answer", async () => {
  const team = await layeredTeam();
  const { gateway } = team;
  const [ada, bob] = [await teamPerson(gateway, "member"), await teamPerson(gateway, "admin")];
  const start = (tool: string, args: object = {}) =>
    ada.watch("POST", "/endpoints/aggregate/try", { server: "fix", tool, args });
  const counting = await start("progress", { n: 3 });
  await counting.next("result");
  expect(counting.events.filter(({ type }) => type === "progress").map(({ data }) => data)).toEqual(
    [1, 2, 3].map((progress) => ({ type: "progress", progress, total: 3 })),
  );
  const logging = await start("log", { data: "a line" });
  expect(await logging.next("log")).toMatchObject({ level: "info", logger: "fixture", data: "a line" });

  const asking = await start("ask", { message: "Your name?" });
  const { question } = await asking.next("question");
  expect(question).toMatchObject({ kind: "form", params: { message: "Your name?", requestedSchema: {} } });
  const { id } = await asking.next("begun");
  const answers = `/endpoints/aggregate/try/${id}/answers`;
  const accept = { question: question.id, action: "accept", content: { name: "Ada" } };
  expect((await bob.ask("POST", answers, accept)).status).toBe(404);
  expect((await ada.ask("POST", answers, { ...accept, question: "other" })).status).toBe(409);
  expect((await ada.ask("POST", answers, { action: "accept" })).status).toBe(422);
  expect((await ada.ask("POST", answers, accept)).status).toBe(204);
  const { result } = await asking.next("result");
  expect(result.structuredContent.answer).toEqual({ action: "accept", content: { name: "Ada" } });
  expect((await ada.ask("POST", answers, accept)).status).toBe(404);

  const sampling = await start("sample", { prompt: "What now?" });
  const asked = await sampling.next("question");
  expect(asked.question).toMatchObject({ kind: "sampling", params: { maxTokens: 10 } });
  const run = await sampling.next("begun");
  const reply = { question: asked.question.id, action: "accept", text: "This." };
  await ada.ask("POST", `/endpoints/aggregate/try/${run.id}/answers`, reply);
  const { result: sampled } = await sampling.next("result");
  expect(sampled.structuredContent.answer).toMatchObject({ content: { type: "text", text: "This." } });

  const failing = await start("fail", { message: "no luck" });
  expect(JSON.stringify(await failing.next("result", "error"))).toContain("no luck");
  const nothing = await ada.watch("POST", "/endpoints/meta/try", { name: "nonsense" });
  const { error, calls } = await nothing.next("error");
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("nonsense") });
  expect(calls).toMatchObject([{ outcome: "refused", code: "tool_not_found" }]);
});

test("closing the stream cancels the call and ends its session", async () => {
  const team = await layeredTeam();
  const ada = await teamPerson(team.gateway, "member");
  const tried = await ada.watch("POST", "/endpoints/aggregate/try", {
    server: "fix",
    tool: "sleep",
    args: { ms: 600_000 },
  });
  await tried.next("begun");
  await until(() => team.reached("sleep") > 0, { what: "the call at the server" });
  const { body } = await team.api("GET", "/sessions");
  expect(body.items).toMatchObject([{ principal: { id: ada.uuid }, client: { name: "metamcp-console" } }]);
  tried.close();
  await until(async () => (await team.api("GET", "/sessions")).body.items.length === 0, {
    what: "the end of the session",
  });
  const cancelled = () =>
    team.journal.events("message").some(({ method }) => method === "notifications/cancelled");
  await until(cancelled, { what: "the cancellation at the server" });
  const { body: calls } = await team.api("GET", "/calls?tool=sleep");
  expect(calls.items).toMatchObject([{ outcome: "error", code: "cancelled" }]);
});

test("an administrator can try an endpoint as another user, with that user's rights, and both are recorded", async () => {
  const policy = { use: "policy", rules: [{ who: { groups: ["ops"] }, effect: "allow" }] };
  const team = await layeredTeam({ endpoint: { middleware: [policy] } });
  const { gateway, api } = team;
  await api("POST", "/endpoints", {
    name: "closed",
    namespaces: ["team"],
    access: { allow: { groups: ["ops"] } },
  });
  const root = await teamPerson(gateway, "admin");
  const ada = await teamPerson(gateway, "member", { email: "ada@example.org", groups: ["ops"] });
  const bob = await teamPerson(gateway, "member", { email: "bob@example.org" });
  const echo = { server: "fix", tool: "echo", args: { message: "hi" } };
  const as = (who: string, endpoint = "aggregate") =>
    root.watch("POST", `/endpoints/${endpoint}/try`, { ...echo, as: who });

  const { result, calls } = await (await as("ada@example.org")).next("result");
  expect(result.content).toEqual([{ type: "text", text: "hi" }]);
  const actor = { kind: "account", id: root.uuid, name: root.email };
  expect(calls).toMatchObject([{ principal: { id: ada.uuid, actor }, outcome: "ok" }]);
  const denied = await (await as(bob.uuid)).next("error");
  expect(denied.error.message).toContain("Unknown tool");
  expect(denied.calls).toMatchObject([{ principal: { id: bob.uuid, actor }, outcome: "refused" }]);

  const own = await bob.watch("POST", "/endpoints/aggregate/try", echo);
  expect((await own.next("error")).error).toEqual(denied.error);
  // A hidden endpoint is hidden from the administrator who acts for the account too, but the administrator
  // gets the reason.
  const closed = await as(bob.uuid, "closed");
  expect(closed).toMatchObject({ status: 404, problem: { detail: expect.stringContaining("access.allow") } });
  const strange = await bob.watch("POST", "/endpoints/closed/try", echo);
  const unknown = await bob.watch("POST", "/endpoints/nowhere/try", echo);
  expect(strange.status).toBe(404);
  expect(JSON.stringify(strange.problem)).toBe(JSON.stringify(unknown.problem).replace("nowhere", "closed"));
  for (const who of [ada.uuid, "nobody@example.org"])
    expect((await bob.watch("POST", "/endpoints/aggregate/try", { ...echo, as: who })).status).toBe(403);
  expect((await as("nobody@example.org")).status).toBe(404);

  const audit = await until(
    async () => {
      const { body } = await api("GET", `/audit?actor=${root.uuid}`);
      return body.items.length === 2 ? body.items : undefined;
    },
    { what: "both records" },
  );
  expect(audit).toMatchObject([
    { kind: "call", principal: { id: bob.uuid, actor }, outcome: "refused" },
    { kind: "call", principal: { id: ada.uuid, actor }, outcome: "ok" },
  ]);
  const { body: acts } = await api("GET", "/audit?action=act-as");
  expect(acts.items).toMatchObject([
    { principal: { id: root.uuid }, object: { kind: "user", uuid: bob.uuid } },
    { principal: { id: root.uuid }, object: { kind: "user", uuid: ada.uuid, name: "ada@example.org" } },
  ]);
});

test("disabling an account ends the calls tried in its name, and API keys cannot try endpoints", async () => {
  const team = await layeredTeam();
  const { gateway, api } = team;
  const ada = await teamPerson(gateway, "member", { email: "ada@example.org" });
  const sleep = { server: "fix", tool: "sleep", args: { ms: 600_000 } };
  const root = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
  const tried = await readEvents(`${gateway.url}/api/v1/endpoints/meta/try`, {
    method: "POST",
    headers: root,
    body: JSON.stringify({ ...sleep, as: ada.uuid }),
  });
  await tried.next("begun");
  const own = await ada.watch("POST", "/endpoints/meta/try", sleep);
  await own.next("begun");
  await api("PATCH", `/users/${ada.uuid}`, { disabled: true });
  expect(await tried.next("error")).toMatchObject({ error: { message: expect.any(String) } });
  await until(() => own.ended, { what: "the end of their own" });
  await api("PATCH", `/users/${ada.uuid}`, { disabled: false });

  const { body } = await api("POST", "/api-keys", { name: "k", role: "viewer", owner: ada.uuid });
  const key = apiClient(gateway.url, { "x-api-key": body.key });
  expect((await key("POST", "/endpoints/meta/try", sleep)).status).toBe(403);
  expect((await key("POST", "/endpoints/meta/try", { ...sleep, as: ada.uuid })).status).toBe(403);
});

test("a try respects the limits of the endpoint, fails if it is disabled, and is anonymous if it is public", async () => {
  const team = await layeredTeam();
  const { gateway, api } = team;
  const root = await teamPerson(gateway, "admin");
  const sleep = { server: "fix", tool: "sleep", args: { ms: 600_000 } };
  await api("PATCH", "/endpoints/meta", { limits: { sessions: 1 } });
  const first = await root.watch("POST", "/endpoints/meta/try", sleep);
  await first.next("begun");
  expect((await root.watch("POST", "/endpoints/meta/try", sleep)).status).toBe(429);
  const [session] = (await api("GET", "/sessions")).body.items;
  expect((await api("DELETE", `/sessions/${session.id}`)).status).toBe(204);
  expect((await first.next("error")).error.message).toContain("administrator");

  await api("PATCH", "/endpoints/meta", { disabled: true });
  expect(await root.watch("POST", "/endpoints/meta/try", sleep)).toMatchObject({
    status: 404,
    problem: { detail: expect.stringContaining("disabled") },
  });
  await api("PATCH", "/endpoints/aggregate", { access: { public: true } });
  const open = await root.watch("POST", "/endpoints/aggregate/try", { name: "fix__pid" });
  expect((await open.next("result")).calls).toMatchObject([
    { principal: { kind: "anonymous", actor: { id: root.uuid } } },
  ]);
  for (const body of [{}, { server: "fix" }, { name: "x", argz: {} }])
    expect((await root.watch("POST", "/endpoints/aggregate/try", body)).status).toBe(422);
});
