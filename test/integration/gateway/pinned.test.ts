/** Pinned tools of an endpoint: the rules of a gateway apply to them as on the aggregate surface. */
import { expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import { auditRecords } from "../../support/records.ts";
import { shared } from "../../support/shared.ts";
import { teamClient, WAYS } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";

const PINNED = ["fix:echo", "fix:add", "fix:weird", "fix:nothing"];
const team = shared(() =>
  layeredTeam({
    endpoint: {
      pinned: PINNED,
      middleware: [
        { use: "audit" },
        { use: "redact", detect: ["email"], in: ["results"] },
        { use: "filter", deny: ["fix:weird"] },
        { use: "rate-limit", requests: 4, per: "1h", by: ["endpoint", "tool"] },
      ],
    },
  }),
);

const pinnedAt = async (endpoint: string, way: (typeof WAYS)[number] = "streamable") => {
  const client = await teamClient(team().gateway, endpoint, { key: team().key, way });
  return { client, pinned: (await client.tools()).filter((name) => name.includes("fix")) };
};

test.each(WAYS)("they are listed and called by their aggregate names (%s)", async (way) => {
  const { client, pinned } = await pinnedAt("meta", way);
  const all = (await (await teamClient(team().gateway, "aggregate", { key: team().key })).tools()).filter(
    (name) => /echo|add|weird/.test(name),
  );
  expect(pinned).toEqual(all);
  expect(pinned).not.toContain("fix__weird");
  expect(await client.call("fix__echo", { message: "to ann@example.org" })).not.toContain("ann@");
  await expect(client.call("fix__weird")).rejects.toThrow("Unknown tool: fix__weird");
  await expect(client.call("fix__crash")).rejects.toThrow("Unknown tool");
  expect(team().reached("weird")).toBe(0);
});

test("their calls are recorded and limited together with those by mcp_call", async () => {
  const { client } = await pinnedAt("meta");
  const by = ["fix__add", "mcp_call", "fix__add", "mcp_call", "fix__add"];
  const answers: string[] = [];
  for (const name of by) {
    const args = { a: 1, b: 2 };
    answers.push(await client.call(name, name === "mcp_call" ? { server: "fix", tool: "add", args } : args));
  }
  expect(answers.slice(0, 4)).toEqual(["3", "3", "3", "3"]);
  expect(answers[4]).toContain("rate_limited");
  const records = await auditRecords(team().gateway, "&tool=add&endpoint=meta", 5);
  expect(records.map(({ tool, outcome }) => [tool, outcome])).toEqual([
    ...Array.from({ length: 4 }, () => ["add", "ok"]),
    ["add", "refused"],
  ]);
});

test("the preview counts them and says what is missing; those called most are suggested", async () => {
  const { api } = team();
  const { body } = await api("GET", "/endpoints/metatools/preview");
  expect(body.tools.map(({ definition }: { definition: { name: string } }) => definition.name)).toEqual(
    expect.arrayContaining(["fix__echo", "run_tool"]),
  );
  expect(body.missing).toEqual([
    { id: "fix:weird", reason: "its server has no such tool, or the rules hide it" },
    { id: "fix:nothing", reason: "its server has no such tool" },
  ]);
  const client = await teamClient(team().gateway, "metatools", { key: team().key });
  for (const tool of ["fix:count", "fix:echo", "fix:count", "fix:pid"])
    await client.call("run_tool", { tool_id: tool, args: { message: "x", key: "k" } });
  const suggested = await api("GET", "/endpoints/metatools/suggested-tools");
  expect(suggested.body).toMatchObject([
    { id: "fix:count", calls: 2 },
    { id: "fix:pid", calls: 1 },
  ]);
});

test("a change of the pinned tools tells the clients of the endpoint", async () => {
  const { api } = team();
  const { client, pinned } = await pinnedAt("meta");
  expect(pinned).toContain("fix__echo");
  expect((await api("PATCH", "/endpoints/meta", { pinned: ["fix:pid"] })).status).toBe(200);
  await until(() => client.listChanges > 0, { what: "list_changed" });
  expect((await client.tools()).filter((name) => name.includes("fix"))).toEqual(["fix__pid"]);
  await expect(client.call("fix__echo", { message: "x" })).rejects.toThrow("Unknown tool");
  expect((await api("PATCH", "/endpoints/meta", { pinned: ["no colon"] })).status).toBe(422);
});
