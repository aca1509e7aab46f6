/** The live events of the console: each event reaches only the people who may see it. */
import { expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { fixture } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("an update of a server is published step by step, and its revision names who made it", async () => {
  const { gateway, api, key } = await layeredTeam();
  const root = await teamPerson(gateway, "admin");
  const client = await teamClient(gateway, "aggregate", { key });
  await client.tools();
  const live = await root.watch("GET", "/events");
  expect(await live.next("hello")).toMatchObject({ type: "hello", revision: expect.any(Number) });
  await root.ask("PATCH", "/mcp-servers/fix", { args: [...fixture().args, "--tools", "2"] });
  const steps = await until(
    () => {
      const updates = live.events.filter(({ type }) => type === "update").map(({ data }) => data);
      return updates.some(({ step }) => step === "told") ? updates : undefined;
    },
    { what: "the last step" },
  );
  const namespace = (await api("GET", "/namespaces/team")).body.uuid;
  expect(steps.map(({ step }) => step).filter((step) => step !== "closed")).toEqual([
    "stored",
    "started",
    "connected",
    "compiled",
    "told",
  ]);
  const of = (step: string) => steps.find((one) => one.step === step);
  expect(of("closed")).toMatchObject({ pid: expect.any(Number), server: { name: "fix" } });
  expect(of("started").pid).not.toBe(of("closed").pid);
  expect(of("connected").toolCount).toBeGreaterThan(2);
  expect(of("compiled").namespaces).toEqual([namespace]);
  expect(of("told").clients).toBe(1);
  expect(await live.next("revision")).toMatchObject({
    by: "this",
    who: { kind: "account", id: root.uuid, name: root.email },
    summary: 'update server "fix": args',
    changes: [{ op: "update", kind: "server", name: "fix" }],
  });
  expect(await live.next("tools")).toMatchObject({ server: { name: "fix" } });
});

test("changes of users and keys, logins and server failures are published", async () => {
  const { gateway, api } = await layeredTeam();
  const root = await teamPerson(gateway, "admin");
  const live = await root.watch("GET", "/events");
  await live.next("hello");
  const changed = (of: string) =>
    until(() => live.events.some(({ type, data }) => type === "changed" && data.of === of), { what: of });
  await api("POST", "/users", { email: "new@example.org", role: "member" });
  await changed("users");
  await api("POST", "/api-keys", { name: "k", endpoints: "all" });
  await changed("api-keys");
  await root.ask("POST", "/login", { email: root.email, password: "wrong" });
  expect(await live.next("login")).toMatchObject({ outcome: "refused", by: "password" });
  await api("PATCH", "/mcp-servers/fix", { command: "/nowhere/to/be/found" });
  const failed = await until(
    () => live.events.find(({ type, data }) => type === "connection" && data.state === "failed"),
    { what: "the failure" },
  );
  expect(failed.data).toMatchObject({ server: { name: "fix" }, reason: expect.stringContaining("nowhere") });
  const { body } = await api("GET", "/mcp-servers/fix");
  expect(body.status).toMatchObject({ state: "failed", since: expect.any(String) });
  const { body: history } = await api("GET", "/mcp-servers/fix/history");
  expect(history.items[0]).toMatchObject({ state: "failed", reason: expect.stringContaining("nowhere") });
  await api("PATCH", "/mcp-servers/fix", fixture());
  const { body: recovered } = await api("GET", "/mcp-servers/fix");
  expect(recovered.status).toMatchObject({ connected: true, since: expect.any(String) });
  expect(Date.parse(recovered.status.since)).toBeGreaterThanOrEqual(Date.parse(body.status.since));
});

test("each person receives only permitted events, and none after losing the permission", async () => {
  const { gateway, api, key } = await layeredTeam();
  const viewer = await teamPerson(gateway, "viewer");
  const member = await teamPerson(gateway, "member");
  const [seen, little] = [await viewer.watch("GET", "/events"), await member.watch("GET", "/events")];
  const calls = await viewer.watch("GET", "/events?types=call");
  for (const live of [seen, little, calls]) await live.next("hello");
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "secret words" });
  await api("POST", "/api-keys", { name: "k", endpoints: "all" });
  await seen.next("call");
  await seen.next("changed");
  expect(JSON.stringify(seen.events)).not.toContain("secret words");
  expect(seen.events.map(({ type }) => type)).not.toContain("session");
  await little.next("changed");
  expect(new Set(little.events.map(({ type }) => type))).toEqual(new Set(["hello", "changed"]));
  await calls.next("call");
  expect(new Set(calls.events.map(({ type }) => type))).toEqual(new Set(["hello", "call"]));
  expect((await viewer.watch("GET", "/events?types=calls")).status).toBe(400);
  await api("PATCH", `/users/${viewer.uuid}`, { role: "member" });
  await client.call("fix__echo", { message: "again" });
  await api("POST", "/api-keys", { name: "l", endpoints: "all" });
  await until(() => little.events.filter(({ type }) => type === "changed").length > 1, { what: "the key" });
  expect(calls.events.filter(({ type }) => type === "call")).toHaveLength(1);
  await api("PATCH", `/users/${member.uuid}`, { disabled: true });
  await until(() => little.ended, { what: "the end of the stream" });
});

test("people who may decide an approval are notified of it, whatever their role", async () => {
  const policy = { use: "policy", rules: [{ effect: "approve", by: { groups: ["leads"] } }] };
  const { gateway } = await layeredTeam({ endpoint: { middleware: [policy] } });
  const asker = await teamPerson(gateway, "member", { email: "asker@example.org" });
  const lead = await teamPerson(gateway, "member", { email: "lead@example.org", groups: ["leads"] });
  const live = await lead.watch("GET", "/events");
  await live.next("hello");
  const echo = { server: "fix", tool: "echo", args: { message: "may I?" } };
  const tried = await asker.watch("POST", "/endpoints/meta/try", echo);
  await until(() => live.events.some(({ type, data }) => type === "changed" && data.of === "approvals"), {
    what: "that something waits",
  });
  expect(JSON.stringify(live.events)).not.toContain("may I?");
  const { body } = await lead.ask("GET", "/approvals?state=waiting");
  const [waiting] = body["items"] as unknown as { uuid: string }[];
  expect((await lead.ask("POST", `/approvals/${waiting?.uuid}/approve`, {})).status).toBe(200);
  expect((await tried.next("result")).result.content).toEqual([{ type: "text", text: "may I?" }]);
});
