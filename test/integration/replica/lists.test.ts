/**
 * Lists of servers that gateways on one Postgres share: one that is added knows everything and starts
 * nothing.
 */
import { expect, test } from "vitest";
import {
  inStep,
  makeTeam,
  onPostgres,
  type Replica,
  request2026,
  startReplica,
  twoReplicas,
} from "../../support/replicas.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { postgresDatabase, type TestDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const ENDPOINTS = { all: { surface: "aggregate" }, meta: { surface: "meta" }, auto: { surface: "auto" } };

const starts = (folder: Temp): number => folder.journal().events("start").length;

const journaled = (folder: Temp, ...flags: string[]) => fixture("--journal", folder.journal().file, ...flags);

async function names(gateway: Replica, key: string, method = "tools/list"): Promise<string[]> {
  const { result } = await request2026(gateway, "all", key, method);
  const items = result.tools ?? result.prompts ?? result.resources;
  return items.map(({ name, uri }: { name: string; uri?: string }) => uri ?? name);
}

/** The stored lists: how often they were written, and how many there are. */
async function stored({ sql }: TestDatabase): Promise<{ writes: number; lists: number }> {
  const [kind] = await sql("SELECT version FROM metamcp_record_kinds WHERE kind = 'learned-list'");
  const rows = await sql("SELECT id FROM metamcp_records WHERE kind = 'learned-list'");
  return { writes: Number(kind?.["version"] ?? 0), lists: rows.length };
}

onPostgres("lists of two gateways", () => {
  test("a gateway with an empty home lists and finds everything, and starts nothing", async () => {
    const database = await postgresDatabase();
    const folder = temp();
    const one = await startReplica(database);
    const flags = ["--prompts", "2", "--resources", "3", "--templates", "1"];
    const key = await makeTeam(one, { fix: journaled(folder, ...flags) }, ENDPOINTS);
    const lists = ["tools/list", "prompts/list", "resources/list"];
    const known = await Promise.all(lists.map((method) => names(one, key, method)));
    expect(known.map(({ length }) => length > 0)).toEqual([true, true, true]);
    const decided = await request2026(one, "auto", key, "tools/list");
    const begun = starts(folder);
    await until(async () => {
      const [row] = await database.sql("SELECT value FROM metamcp_records WHERE kind = 'learned-list'");
      return (
        String(row?.["value"]).includes("fixture://item/2") && String(row?.["value"]).includes("prompt_1")
      );
    });

    const two = await startReplica(database);
    await inStep([one, two], key, "all");
    expect(await Promise.all(lists.map((method) => names(two, key, method)))).toEqual(known);
    const query = { name: "mcp_discover", arguments: { query: "add two numbers" } };
    const found = await request2026(two, "meta", key, "tools/call", query);
    expect(found.result.content[0].text).toContain('"tool":"add"');
    const session = await teamClient(two, "all", { key });
    expect(await session.tools()).toEqual(known[0]);
    expect((await request2026(two, "auto", key, "tools/list")).result.tools).toEqual(decided.result.tools);
    const status = (await two.api("GET", "/mcp-servers/fix")).body.status;
    expect(status).toMatchObject({ connected: false, toolCount: known[0]?.length });
    expect(starts(folder)).toBe(begun);
    // A call starts the server as ever.
    const call = { name: "fix__add", arguments: { a: 1, b: 2 } };
    expect((await request2026(two, "all", key, "tools/call", call)).result.structuredContent).toEqual({
      sum: 3,
    });
    expect(starts(folder)).toBe(begun + 1);
  });

  test("a change that one sees reaches the clients of another that does not run the server", async () => {
    const folder = temp();
    const { one, two, database } = await twoReplicas();
    const key = await makeTeam(one, { fix: journaled(folder, "--prompts", "1") }, ENDPOINTS);
    await inStep([one, two], key, "all");
    const here = await teamClient(one, "all", { key });
    await here.tools();
    await until(async () => (await stored(database)).lists > 0);
    await until(async () => (await two.api("GET", "/mcp-servers/fix")).body.status.toolCount > 0);
    const there = await teamClient(two, "all", { key });
    expect(await there.tools()).toEqual(await here.tools());
    await here.call("fix__change", { add: ["brand_new"], prompts: ["new_prompt"] });
    await until(() => there.listChanges === 1, { what: "list_changed at the other gateway" });
    expect(await there.tools()).toEqual(await here.tools());
    expect(await there.tools()).toContain("fix__brand_new");
    await until(async () => (await names(two, key, "prompts/list")).includes("fix__new_prompt"));
    await here.call("fix__change", { remove: ["brand_new"] });
    await until(() => there.listChanges === 2);
    expect(await there.tools()).not.toContain("fix__brand_new");
    expect(starts(folder)).toBe(1);
  });

  test("a gateway that runs the server asks its own process when another one sees a change", async () => {
    const { one, two } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture() }, ENDPOINTS);
    await inStep([one, two], key, "all");
    const [here, there] = [await teamClient(one, "all", { key }), await teamClient(two, "all", { key })];
    await here.call("fix__echo", { message: "hi" });
    await there.call("fix__change", { add: ["there_only"], silent: true });
    await here.call("fix__change", { add: ["here_only"] });
    await until(async () => (await there.tools()).includes("fix__there_only"));
    expect(await there.tools()).not.toContain("fix__here_only");
    expect(await here.tools()).toContain("fix__here_only");
    expect(await here.tools()).not.toContain("fix__there_only");
  });

  test("a list is written when it changes, and goes with its server", async () => {
    const { one, two, ...rest } = await twoReplicas();
    const { database } = rest;
    const key = await makeTeam(one, { fix: fixture() }, ENDPOINTS);
    await inStep([one, two], key, "all");
    await one.api("POST", "/mcp-servers/fix/connect");
    // Tools, then prompts and resources: they are empty, and the first list does not know them yet.
    await until(async () => (await stored(database)).writes >= 1);
    for (let n = 0; n < 5; n++)
      for (const { api } of [one, two]) await api("POST", "/mcp-servers/fix/connect");
    const before = await stored(database);
    expect(before.writes).toBeLessThanOrEqual(8);
    for (let n = 0; n < 5; n++)
      for (const { api } of [one, two]) await api("POST", "/mcp-servers/fix/connect");
    expect(await stored(database)).toEqual(before);
    expect((await one.api("DELETE", "/mcp-servers/fix?force=true")).status).toBe(204);
    await until(async () => (await stored(database)).lists === 0, { what: "the lists to go" });
  });
});
