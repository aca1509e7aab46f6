/** Explains who sees a tool and why, and what would happen to a call, without making it. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { apiClient } from "../../support/people.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";

const POLICY = {
  use: "policy",
  default: "allow",
  rules: [
    { effect: "deny", who: { groups: ["guests"] }, tools: ["fix:args"] },
    { effect: "deny", tools: ["fix:crash"] },
    { effect: "approve", tools: ["fix:echo"], args: { message: { glob: "rm *" } } },
  ],
};

async function team() {
  const folder = temp();
  const made = await layeredTeam({
    folder,
    server: { middleware: [{ use: "rate-limit", requests: 1, per: "60s", by: "user" }] },
    namespace: { tools: [{ server: "fix", tool: "echo", name: "say" }] },
    endpoint: {
      middleware: [{ use: "filter", deny: ["fix:big"] }, POLICY],
      access: { allow: { groups: ["guests"] } },
    },
  });
  for (const [email, groups] of [
    ["ada@example.org", ["guests"]],
    ["eve@example.org", []],
  ] as const)
    await made.api("POST", "/users", { email, role: "member", groups });
  // The tools are known after the first list.
  const client = await teamClient(made.gateway, "aggregate", { key: made.key });
  await client.tools();
  const { items } = (await made.api("GET", "/endpoints")).body;
  const { uuid } = items.find(({ name }: { name: string }) => name === "aggregate");
  const explain = async (tool: string, more: object = {}) =>
    (await made.api("POST", `/endpoints/${uuid}/explain`, { tool, ...more })).body;
  return { ...made, folder, uuid, client, explain };
}

test("the tools of an endpoint name the layer that hides or restricts them, in general or for one account", async () => {
  const { api, uuid } = await team();
  const row = async (tool: string, query = "") => {
    const { body } = await api("GET", `/endpoints/${uuid}/tools?limit=500${query}`);
    return body.items.find((one: { tool: string }) => one.tool === tool);
  };
  expect(await row("big")).toMatchObject({
    enabled: false,
    because: 'filter (endpoint "aggregate"): denied',
  });
  expect(await row("crash")).toMatchObject({
    enabled: false,
    because: 'policy (endpoint "aggregate"): rule 2 denies it',
  });
  expect(await row("args")).toMatchObject({
    enabled: true,
    because: expect.stringContaining('policy (endpoint "aggregate"): depends on who asks'),
  });
  expect((await row("echo")).because).toMatch(
    /^renamed in namespace "team"; policy .*rule 3: somebody else must approve; rate-limit \(server "fix"\)/,
  );
  expect(await row("args", "&as=ada@example.org")).toMatchObject({
    enabled: false,
    because: 'policy (endpoint "aggregate"): rule 1 denies it',
  });
  expect(await row("echo", "&as=eve@example.org")).toMatchObject({
    enabled: false,
    because: expect.stringContaining("access.allow"),
  });
  expect((await api("GET", `/endpoints/${uuid}/tools?as=nobody@example.org`)).status).toBe(404);
  const { body: namespaces } = await api("GET", "/namespaces");
  const { body } = await api("GET", `/namespaces/${namespaces.items[0].uuid}/tools?limit=500`);
  expect(body.items.find((one: { tool: string }) => one.tool === "big").because).toMatch(/^rate-limit/);
});

test("explain shows the effect of each layer on a call and uses up no rate limit", async () => {
  const { explain, client, reached } = await team();
  expect(await explain("fix:say", { args: { message: "hello" } })).toEqual({
    as: { kind: "token", id: "admin-token", name: "admin token" },
    outcome: "passes",
    tool: { server: { uuid: expect.any(String), name: "fix" }, tool: "echo", name: "say" },
    steps: [
      { use: "filter", at: 'endpoint "aggregate"', effect: "pass" },
      { use: "policy", at: 'endpoint "aggregate"', effect: "allow", reason: "allowed by default" },
      { use: "rate-limit", at: 'server "fix"', effect: "pass" },
    ],
  });
  const as = "ada@example.org";
  expect(await explain("fix:args", { as })).toMatchObject({
    outcome: "refused",
    code: "tool_not_found",
    as: { name: as },
    steps: [{ use: "policy", effect: "deny", reason: "rule 1 denies it" }],
  });
  expect(await explain("fix__say", { args: { message: "rm -rf" }, as })).toMatchObject({
    outcome: "asks",
    steps: [{ effect: "pass" }, { use: "policy", effect: "approve", reason: "rule 3" }, { effect: "pass" }],
  });
  expect(await explain("fix:echo", { args: { message: 1 }, as })).toMatchObject({
    outcome: "refused",
    code: "validation_input",
    steps: [{ use: "arguments", effect: "deny" }],
  });
  expect(await explain("fix:say", { as: "eve@example.org" })).toMatchObject({
    outcome: "refused",
    steps: [{ use: "access", effect: "deny" }],
  });
  expect(await explain("fix:nothing")).toMatchObject({ outcome: "refused", code: "tool_not_found" });
  expect(await explain("metamcp:mcp_call")).toMatchObject({ outcome: "passes" });
  expect(await explain("metamcp:read")).toMatchObject({ outcome: "passes" });
  expect(await explain("read")).toMatchObject({ outcome: "refused", code: "tool_not_found" });
  for (let n = 0; n < 5; n += 1) await explain("fix:say", { args: { message: "hello" } });
  expect(reached("echo")).toBe(0);
  expect(await client.call("fix__say", { message: "one" })).toBe("one");
  expect(await client.call("fix__say", { message: "two" })).toMatch(/rate_limited/);
});

test("explain lists a server that has not been listed, as a call would, and refuses nothing that it does not know", async () => {
  const { api } = await layeredTeam();
  await api("POST", "/mcp-servers", { name: "gone", command: "/nowhere/none" });
  await api("PATCH", "/namespaces/team", { servers: [{ server: "fix" }, { server: "gone" }] });
  const explain = async (tool: string) =>
    (await api("POST", "/endpoints/aggregate/explain", { tool, args: { message: "x" } })).body;
  expect(await explain("fix:echo")).toMatchObject({ outcome: "passes", tool: { tool: "echo" } });
  expect(await explain("fix__echo")).toMatchObject({ outcome: "passes", tool: { tool: "echo" } });
  expect(await explain("fix:none")).toMatchObject({ outcome: "refused", code: "tool_not_found" });
  for (const name of ["gone:x", "gone__x"])
    expect(await explain(name)).toMatchObject({
      outcome: "unknown",
      steps: [{ at: 'server "gone"', reason: "not known yet: the server has not been listed" }],
    });
});

test("explain needs the right to read the rules, and only administrators can explain as another account", async () => {
  const { gateway, api, uuid } = await team();
  const key = async (role: string) => (await api("POST", "/api-keys", { name: role, role })).body.key;
  const path = `/endpoints/${uuid}/explain`;
  const status = async (role: string, body: object) =>
    (await apiClient(gateway.url, { authorization: `Bearer ${await key(role)}` })("POST", path, body)).status;
  expect(await status("member", { tool: "fix:say" })).toBe(403);
  expect(await status("viewer", { tool: "fix:say" })).toBe(200);
  expect(await status("editor", { tool: "fix:say", as: "ada@example.org" })).toBe(403);
  expect((await api("POST", path, { tool: "fix:say", arg: {} })).status).toBe(422);
  expect((await api("GET", "/audit?action=explain&outcome=ok")).body.items).toEqual([]);
});

test("explain as a key applies its tiers, owner and endpoints", async () => {
  const { gateway, api, uuid, explain } = await team();
  const { items: people } = (await api("GET", "/users")).body;
  const ada = people.find(({ email }: { email: string }) => email === "ada@example.org").uuid;
  const made = async (name: string, more: object) => {
    const { status, body } = await api("POST", "/api-keys", { name, endpoints: "all", ...more });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  await made("reader", { tiers: ["readOnly"] });
  await made("of ada", { owner: ada });
  const elsewhere = await made("elsewhere", { endpoints: ["meta"] });
  await made("admin", { endpoints: undefined, role: "admin" });
  const args = { message: "hello" };
  const explained = async (as: string, tool = "fix:say") => {
    const { outcome, steps = [], title } = await explain(tool, { args, as });
    return `${outcome ?? title}${steps.map(({ reason = "" }) => `, ${reason}`).join("")}`;
  };
  expect(await explained("key:reader")).toBe("refused, not in the tiers of the key");
  expect(await explained("key:of ada")).toMatch(/^passes/);
  expect(await explained("key:of ada", "fix:args")).toBe("refused, rule 1 denies it");
  expect(await explained("key:elsewhere")).toBe("refused, the key is not valid for the endpoint");
  expect(await explained(`key:${elsewhere.uuid}`)).toBe("refused, the key is not valid for the endpoint");
  expect(await explained("key:admin")).toBe("refused, the key is only for the admin API");
  expect(await explained("key:nobody's")).toBe("Not found");
  await made("of ada", {});
  expect(await explained("key:of ada")).toBe("Conflict");

  const { items } = (await api("GET", `/endpoints/${uuid}/tools?limit=500&as=key:reader`)).body;
  const say = items.find(({ name }: { name: string }) => name === "say");
  expect(say).toMatchObject({ enabled: false, because: expect.stringContaining("tiers of the key") });
  const preview = (await api("GET", `/endpoints/${uuid}/preview?as=key:reader`)).body;
  expect([preview.as.kind, JSON.stringify(preview)]).toEqual([
    "key",
    expect.not.stringContaining("fix__say"),
  ]);
  const editor = (await api("POST", "/api-keys", { name: "editor", role: "editor" })).body.key;
  const asEditor = apiClient(gateway.url, { authorization: `Bearer ${editor}` });
  for (const key of ["reader", "nobody's"])
    expect((await asEditor("GET", `/endpoints/${uuid}/tools?as=key:${key}`)).status).toBe(403);
});

test("metamcp gateway explain prints the explanation", async () => {
  const { gateway, folder } = await team();
  const env = { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN };
  const shell = (...args: string[]) =>
    metamcp({ ...folder, env }, ["gateway", "explain", ...args, "--gateway", gateway.url]);
  const passed = await shell("--as", "ada@example.org", "aggregate", "fix:say", '{"message":"hello"}');
  expect(passed.out).toMatch(/policy +endpoint "aggregate" +allow +allowed by default/);
  expect(passed.out).toContain("A call of fix:say by ada@example.org passes.");
  const hidden = await shell("--as", "ada@example.org", "aggregate", "fix:args");
  expect(hidden).toMatchObject({ code: 0, out: expect.stringContaining("is refused (tool_not_found).") });
  expect(await shell("aggregate", "fix:say", "{")).toMatchObject({ code: 2 });
  expect((await shell("aggregate", "fix:say", "--json")).out).toContain('"validation_input"');
});
