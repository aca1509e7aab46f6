/** Usage through the admin API of a running gateway, and who may use its endpoints. */
import { expect, test } from "vitest";
import { shared } from "../../support/shared.ts";
import { teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { fixture, temp } from "../../support/temp.ts";

async function team(folder = temp()) {
  const gateway = await teamGateway(folder);
  await gateway.api("POST", "/mcp-servers/import", { mcpServers: { fix: fixture() } });
  await gateway.api("POST", "/namespaces", { name: "all", servers: [{ server: "fix" }] });
  await gateway.api("POST", "/endpoints", { name: "dev", namespaces: ["all"], surface: "aggregate" });
  return gateway;
}

test("what was called is known after a restart: who, what, when, and the last use of tools", async () => {
  const folder = temp();
  const before = await team(folder);
  const client = await teamClient(before, "dev", { key: await before.key() });
  for (let i = 0; i < 5; i++) await client.call("fix__add", { a: i, b: 1 });
  await client.call("fix__no_such_tool").catch(() => {});
  await client.close();
  await before.stop();

  const { api } = await teamGateway(folder);
  const { body: usage } = await api("GET", "/usage");
  expect(usage.totals).toMatchObject({ calls: 6, refused: 1 });
  expect(usage.series).toHaveLength(60);
  expect(usage.flows[0]).toMatchObject({
    client: "team",
    endpoint: { name: "dev" },
    namespace: { name: "all" },
    server: { name: "fix" },
    calls: 5,
  });
  expect(usage.callers).toMatchObject([{ principal: { kind: "key", name: "a key" }, calls: 6 }]);
  const { body: tools } = await api("GET", "/tools?q=add");
  const add = tools.items.find(({ tool }: { tool: string }) => tool === "add");
  expect(add).toMatchObject({ calls: 5 });
  expect(Date.parse(tools.since)).toBeLessThan(Date.parse(add.lastUsedAt));
  const { body: one } = await api("GET", "/usage?range=24h&server=fix&tool=add");
  expect(one).toMatchObject({ totals: { calls: 5 }, took: [{ tool: "add", calls: 5 }] });
});

const people = shared(async () => {
  const gateway = await team();
  for (const [email, groups] of [
    ["ada@example.org", ["leads"]],
    ["bob@example.org", []],
  ] as const)
    await gateway.api("POST", "/users", { email, role: "member", groups });
  return gateway;
});

test("an endpoint names only people and roles that exist", async () => {
  const { api } = people();
  const allow = (lists: object) => api("PATCH", "/endpoints/dev", { access: { allow: lists } });
  const { status, body } = await allow({ users: ["ada@example.org", "adda@example.org"], roles: ["adminn"] });
  expect(status).toBe(422);
  expect(body.errors).toEqual([
    {
      path: "/access/allow/users/1",
      message: 'there is no account "adda@example.org": invite the person first',
    },
    { path: "/access/allow/roles/0", message: "must be one of admin, editor, viewer, member" },
  ]);
  const made = { name: "x", namespaces: ["all"], access: { allow: { roles: ["root"] } } };
  expect((await api("POST", "/endpoints", made)).status).toBe(422);
  expect((await allow({ users: ["ADA@example.org"], roles: ["editor"] })).status).toBe(200);
});

test("who may use an endpoint is a list of names, and so is what somebody may use", async () => {
  const { api } = people();
  const names = async () =>
    (await api("GET", "/endpoints/dev/people")).body.items.map(({ email }: { email: string }) => email);
  await api("PATCH", "/endpoints/dev", { access: { allow: null } });
  expect(await names()).toEqual(["ada@example.org", "bob@example.org"]);
  await api("PATCH", "/endpoints/dev", { access: { allow: { groups: ["leads"] } } });
  expect(await names()).toEqual(["ada@example.org"]);
  const usable = async (who: string) => (await api("GET", `/users/${who}/endpoints`)).body.items.length;
  expect(await usable("ada@example.org")).toBe(1);
  expect(await usable("bob@example.org")).toBe(0);
});

test("an editor does not learn from an endpoint who has an account", async () => {
  const { ask } = await teamPerson(people(), "editor");
  const named = async (user: string) =>
    (await ask("PATCH", "/endpoints/dev", { access: { allow: { users: [user] } } })).body;
  const told = await named("bob@example.org");
  expect(told).toMatchObject({ status: 403 });
  expect(await named("nobody@example.org")).toEqual(told);
});
