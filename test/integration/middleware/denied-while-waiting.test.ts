/**
 * A call that waits for a permission or in a queue is judged again after the wait: a change made meanwhile
 * counts.
 */
import { expect, test } from "vitest";
import { ELICITATION_REVISIONS, elicitationClient } from "../../support/elicitation-client.ts";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf } from "../../support/meta.ts";
import { apiClient, cookieIn, PASSWORD } from "../../support/people.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Api = TeamGateway["api"];
type Rule = Readonly<Record<string, unknown>>;

const policy = (...rules: readonly Rule[]) => ({ use: "policy", default: "allow", rules });
const APPROVE = { effect: "approve", tools: ["*:echo"] };
const ASK = { effect: "ask", tools: ["*:echo"] };

/** A server, a namespace and an endpoint of the same name, with these layers at the endpoint. */
async function served(api: Api, name: string, middleware: readonly object[]) {
  const folder = temp();
  const journal = folder.journal();
  const make = async (path: string, body: object): Promise<string> => {
    const { status, body: made } = await api("POST", path, { name, ...body });
    expect(status, JSON.stringify(made)).toBe(201);
    return String(made.uuid);
  };
  const server = await make("/mcp-servers", fixture("--journal", journal.file));
  const namespace = await make("/namespaces", { servers: [{ server: name }] });
  const endpoint = await make("/endpoints", { namespaces: [name], surface: "meta", middleware });
  return {
    name,
    echo: (message: string) => ["mcp_call", { server: name, tool: "echo", args: { message } }] as const,
    reached: (wanted = "echo") => journal.events("message").filter(({ tool }) => tool === wanted).length,
    /** Whether a further call would be refused because the queue is full. */
    async isFull() {
      const call = { tool: `${name}:echo`, args: { message: "next" } };
      const { body } = await api("POST", `/endpoints/${endpoint}/explain`, call);
      return JSON.stringify(body).includes("calls run already");
    },
    patch: {
      server: (body: object) => api("PATCH", `/mcp-servers/${server}`, body),
      namespace: (body: object) => api("PATCH", `/namespaces/${namespace}`, body),
      endpoint: (body: object) => api("PATCH", `/endpoints/${endpoint}`, body),
    },
  };
}
type Served = Awaited<ReturnType<typeof served>>;

async function waiting(api: Api): Promise<string> {
  const path = "/approvals?state=waiting";
  const found = await until(async () => (await api("GET", path)).body.items[0], { what: "a waiting call" });
  return String(found.uuid);
}

const decide = async (api: Api, uuid: string): Promise<number> =>
  (await api("POST", `/approvals/${uuid}/approve`)).status;

interface Denial {
  readonly deny: (made: Served) => ReturnType<Api>;
  readonly code: string;
}

/** By what an administrator changes while the call waits. `rule` is the rule that makes it wait. */
const denials = (rule: Rule): Readonly<Record<string, Denial>> => ({
  "a policy that denies the tool": {
    deny: ({ patch }) =>
      patch.endpoint({ middleware: [policy(rule, { effect: "deny", tools: ["*:echo"] })] }),
    code: "tool_not_found",
  },
  "a policy that denies the arguments": {
    deny: ({ patch }) =>
      patch.server({
        middleware: [policy({ effect: "deny", tools: ["*:echo"], args: { message: { glob: "l*" } } })],
      }),
    code: "forbidden",
  },
  "a filter": {
    deny: ({ patch }) => patch.namespace({ middleware: [{ use: "filter", deny: ["*:echo"] }] }),
    code: "tool_not_found",
  },
  "a tool switched off": {
    deny: ({ patch, name }) => patch.namespace({ tools: [{ server: name, tool: "echo", disabled: true }] }),
    code: "tool_not_found",
  },
  "a fixed argument that the caller gave": {
    deny: ({ patch, name }) =>
      patch.namespace({ tools: [{ server: name, tool: "echo", args: { message: { fixed: "other" } } }] }),
    code: "validation_input",
  },
  "a server taken out of the namespace": {
    deny: ({ patch }) => patch.namespace({ servers: [] }),
    code: "server_not_found",
  },
  "a server switched off in the namespace": {
    deny: ({ patch, name }) => patch.namespace({ servers: [{ server: name, disabled: true }] }),
    code: "server_not_found",
  },
  "a tool denied at the server": {
    deny: ({ patch }) => patch.server({ tools: { deny: ["echo"] } }),
    code: "tool_not_found",
  },
  "a disabled server": { deny: ({ patch }) => patch.server({ disabled: true }), code: "server_not_found" },
});

test("an approval does not let a call through that was denied while it waited", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const key = await team.key();
  for (const [at, [what, { deny, code }]] of Object.entries(denials(APPROVE)).entries()) {
    const made = await served(api, `fix${at}`, [policy(APPROVE)]);
    const client = await teamClient(team, made.name, { key });
    const answer = client.call(...made.echo("late"));
    const uuid = await waiting(api);
    expect((await deny(made)).status, what).toBe(200);
    expect(await decide(api, uuid), what).toBe(200);
    expect(await answer, what).toContain(code);
    expect(made.reached(), what).toBe(0);
    const [call] = (await api("GET", "/calls?limit=1")).body.items;
    expect(call, what).toMatchObject({ outcome: "refused", code });
  }
}, 120_000);

const QUEUE = { use: "concurrency", max: 1, queue: 1, by: "endpoint" };

test("a call does not leave a queue for the server if it was denied while it waited", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const key = await team.key();
  for (const [at, [what, { deny, code }]] of Object.entries(denials({ effect: "allow" })).entries()) {
    const made = await served(api, `fix${at}`, [QUEUE]);
    const client = await teamClient(team, made.name, { key });
    const stopping = new AbortController();
    const { signal } = stopping;
    client.call("mcp_call", { server: made.name, tool: "hang" }, { signal }).catch(() => {});
    await until(() => made.reached("hang") === 1);
    const answer = client.call(...made.echo("late"));
    await until(made.isFull, { what: "a call in the queue" });
    expect((await deny(made)).status, what).toBe(200);
    stopping.abort();
    expect(await answer, what).toContain(code);
    expect(made.reached(), what).toBe(0);
    const { items } = (await api("GET", "/calls?limit=5")).body;
    const record = items.find(({ tool }: { tool: string }) => tool === "echo");
    expect(record, what).toMatchObject({ outcome: "refused", code });
  }
}, 120_000);

test("a call in a queue ends if its caller loses the right to the endpoint", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const made = await served(api, "fix", [QUEUE]);
  const [running, waits] = [await team.key(), await team.key()];
  const first = await teamClient(team, "fix", { key: running });
  const second = await teamClient(team, "fix", { key: waits });
  const stopping = new AbortController();
  first.call("mcp_call", { server: "fix", tool: "hang" }, stopping).catch(() => {});
  await until(() => made.reached("hang") === 1);
  const answer = expect(second.call(...made.echo("late"))).rejects.toThrow("no longer use this endpoint");
  await until(made.isFull, { what: "a call in the queue" });
  expect((await made.patch.endpoint({ access: { keys: false } })).status).toBe(200);
  await answer;
  expect((await made.patch.endpoint({ access: { keys: true } })).status).toBe(200);
  // The queue has room again, and the call that left it does not come later.
  const third = await teamClient(team, "fix", { key: running });
  expect(await third.call("mcp_call", { server: "fix", tool: "add", args: { a: 1, b: 2 } })).toContain("3");
  expect(made.reached()).toBe(0);
});

test("an approval does not let a call through whose key or account was revoked while it waited", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const made = await served(api, "fix", [policy(APPROVE)]);
  const { body: invited } = await api("POST", "/users", { email: "ada@example.org", role: "member" });
  const code: string = invited.invitation.url.split("/").at(-1);
  const login = await apiClient(team.url)("POST", `/invitations/${code}`, { password: PASSWORD });
  const ada = apiClient(team.url, { cookie: cookieIn(login), origin: team.url });
  const own = async () => (await ada("POST", "/api-keys", { name: "own", endpoints: "all" })).body;
  const other = await teamClient(team, "fix", { key: await team.key() });
  const ends = {
    key: async ({ uuid }: { uuid: string }) => await api("DELETE", `/api-keys/${uuid}`),
    account: async () => await api("PATCH", `/users/${invited.uuid}`, { disabled: true }),
  };
  for (const [what, end] of Object.entries(ends)) {
    const key = await own();
    const client = await teamClient(team, "fix", { key: String(key["key"]) });
    client.call(...made.echo("late")).catch(() => {});
    const uuid = await waiting(api);
    expect((await end({ uuid: String(key["uuid"]) })).status, what).toBeLessThan(300);
    await decide(api, uuid);
    await until(async () => (await api("GET", "/approvals?state=waiting")).body.items.length === 0);
    // This call arrives at the server after the other one would have.
    await other.call("mcp_call", { server: "fix", tool: "add", args: { a: 1, b: 2 } });
    expect(made.reached(), what).toBe(0);
  }
});

test("an approval does not let a call through whose caller lost the right to the endpoint while it waited", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const made = await served(api, "fix", [policy(APPROVE)]);
  const { body: invited } = await api("POST", "/users", {
    email: "ada@example.org",
    role: "member",
    groups: ["staff"],
  });
  const code: string = invited.invitation.url.split("/").at(-1);
  const login = await apiClient(team.url)("POST", `/invitations/${code}`, { password: PASSWORD });
  const ada = apiClient(team.url, { cookie: cookieIn(login), origin: team.url });
  const { body: own } = await ada("POST", "/api-keys", { name: "own", endpoints: "all" });
  const access = (rules: object) =>
    made.patch.endpoint({ access: { allow: { groups: ["staff"] }, ...rules } });
  const groups = (names: readonly string[]) => api("PATCH", `/users/${invited.uuid}`, { groups: names });
  const ofAda = String(own["key"]);
  const ownerless = await team.key();
  const cases = {
    "access.allow": { key: ofAda, end: () => access({ allow: { groups: ["leads"] } }) },
    "a group of the account": { key: ofAda, end: () => groups([]) },
    "access.keys": { key: ownerless, end: () => access({ keys: false }) },
    "access.public": {
      key: "",
      before: () => access({ public: true }),
      end: () => access({ public: false }),
    },
  };
  for (const [what, { key, before, end }] of Object.entries<Lost>(cases)) {
    await groups(["staff"]);
    await (before ?? (() => access({})))();
    const client = await teamClient(team, "fix", { key });
    const answer = client.call(...made.echo("late"));
    const uuid = await waiting(api);
    const ended = expect(answer, what).rejects.toThrow("no longer use this endpoint");
    expect((await end()).status, what).toBe(200);
    await ended;
    expect(await decide(api, uuid), what).toBe(409);
    expect(made.reached(), what).toBe(0);
  }
});

interface Lost {
  readonly key: string;
  readonly before?: () => ReturnType<Api>;
  readonly end: () => ReturnType<Api>;
}

test("a permission holds while the same rule still asks for it, and limits count the call once", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const limit = { use: "rate-limit", requests: 2, per: "1h" };
  const made = await served(api, "fix", [limit, policy(APPROVE)]);
  const client = await teamClient(team, "fix", { key: await team.key() });
  const first = client.call(...made.echo("first"));
  const uuid = await waiting(api);
  const moved = policy({ effect: "deny", tools: ["*:add"] }, APPROVE);
  expect((await made.patch.endpoint({ middleware: [limit, moved] })).status).toBe(200);
  expect(await decide(api, uuid)).toBe(200);
  expect(await first).toBe("first");
  const second = client.call(...made.echo("second"));
  expect(await decide(api, await waiting(api))).toBe(200);
  expect(await second).toBe("second");
  expect(await client.call(...made.echo("third"))).toContain("rate_limited");
  expect(made.reached()).toBe(2);
  expect((await api("GET", "/approvals")).body.items).toHaveLength(2);
  const [, call] = (await api("GET", "/calls?limit=2")).body.items;
  expect(call.layers).toMatchObject([
    { use: "rate-limit", outcome: "passed" },
    { use: "policy", outcome: "passed" },
  ]);
});

test("a rule that names other approvers needs an approval of theirs", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const made = await served(api, "fix", [policy(APPROVE)]);
  const client = await teamClient(team, "fix", { key: await team.key() });
  const answer = client.call(...made.echo("twice"));
  const uuid = await waiting(api);
  await made.patch.endpoint({ middleware: [policy({ ...APPROVE, by: { groups: ["leads"] } })] });
  expect(await decide(api, uuid)).toBe(200);
  const other = await waiting(api);
  expect(other).not.toBe(uuid);
  expect(made.reached()).toBe(0);
  expect(await decide(api, other)).toBe(200);
  expect(await answer).toBe("twice");
  expect(made.reached()).toBe(1);
});

test("a yes of the user does not let a call through that was denied while the question was open", async () => {
  const team = await teamGateway(temp());
  const { api } = team;
  const key = await team.key();
  for (const era of ELICITATION_REVISIONS)
    for (const [at, [what, { deny, code }]] of Object.entries(denials(ASK)).entries()) {
      const made = await served(api, `fix${at}-${era.slice(0, 4)}`, [policy(ASK)]);
      const answer = async () => {
        expect((await deny(made)).status, what).toBe(200);
        return "accept" as const;
      };
      const client = await elicitationClient(team, made.name, { key, era, answer });
      const told = await client.call(...made.echo("late"));
      expect(client.asked, what).toHaveLength(1);
      expect(told, what).toContain(code);
      expect(made.reached(), what).toBe(0);
    }
}, 120_000);

test("tools.ask of a config file: a tool that is denied while the user is asked does not run", async () => {
  const folder = temp();
  const journal = folder.journal();
  const server = fixture("--journal", journal.file);
  folder.writeConfig({ a: { ...server, tools: { ask: ["count*"] } } });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize({ elicitation: {} });
  const answer = client.mcpCall("a", "count", { key: "k" });
  await client.until(({ requests }) => requests.length === 1);
  folder.writeConfig({ a: { ...server, tools: { deny: ["count"] } } });
  await until(async () => {
    const { tools = [] } = await discover(client, { server: "a", limit: 100 });
    return !tools.some(({ tool }) => tool.endsWith("count"));
  });
  const [question] = client.requests;
  client.write(`{"jsonrpc":"2.0","id":${JSON.stringify(question?.id)},"result":{"action":"accept"}}\n`);
  expect(failureOf(await answer)).toMatchObject({ code: "tool_not_found" });
  expect(journal.events("count")).toEqual([]);
  await client.close();
});
