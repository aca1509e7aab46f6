/**
 * The cache in METAMCP_HOME, kept between runs and shared between gateways: it saves work, but is never
 * trusted over the server.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf, serverStatus, textOf } from "../../support/meta.ts";
import { gone } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { FIXTURE_TOOLS, fixture, type Temp, temp } from "../../support/temp.ts";

async function start(folder: Temp, home = folder.home): Promise<RawClient> {
  const client = gateway(folder, { env: { METAMCP_HOME: home } });
  await client.initialize();
  return client;
}

const cacheFile = (folder: Temp, server: string): string => join(folder.home, "cache", server, "schema.json");

/** A server that lists the given tools and keeps a journal. */
function serverWith(folder: Temp, tools: Record<string, object>): { command: string; args: string[] } {
  const list = Object.entries(tools).map(([name, more]) => ({
    name,
    inputSchema: { type: "object" },
    ...more,
  }));
  const file = folder.write("tools.json", JSON.stringify(list));
  return fixture("--tools-file", file, "--journal", folder.journal().file);
}

const toolsOf = async (client: RawClient, server: string): Promise<string[]> =>
  (await discover(client, { server })).tools?.map(({ tool }) => tool) ?? [];

test("two gateways with one home and the same servers disturb neither each other nor the cache", async () => {
  const folder = temp();
  const names = ["a", "b", "c"];
  const servers = names.map((name) => [name, fixture("--journal", folder.journal(name).file)]);
  folder.writeConfig(Object.fromEntries(servers));
  const both = await Promise.all([start(folder), start(folder)]);
  const work = both.map(async (client, which) => {
    const calls = Array.from({ length: 60 }, async (_, n) => {
      const key = `${which}-${n}`;
      expect(textOf(await client.mcpCall(names[n % 3] as string, "count", { key }))).toBe(`${key} 1`);
    });
    await Promise.all([discover(client), ...calls]);
  });
  await Promise.all(work);
  const pids = names.flatMap((name) => folder.journal(name).pids());
  expect(pids).toHaveLength(6);
  const [one, other] = both as [RawClient, RawClient];
  await one.close();
  // The children of the other gateway still work.
  expect(textOf(await other.mcpCall("a", "echo", { message: "on" }))).toBe("on");
  await other.close();
  await gone(pids);

  for (const name of names) {
    expect(readdirSync(dirname(cacheFile(folder, name)))).toEqual(["schema.json"]);
    JSON.parse(readFileSync(cacheFile(folder, name), "utf8"));
  }
  // The lists come from the cache without starting a process, and an unchanged cache is not written again.
  const before = statSync(cacheFile(folder, "a"));
  const third = await start(folder);
  const found = await discover(third);
  expect(found.servers?.map(({ toolCount, connected }) => [toolCount, connected])).toEqual(
    Array(3).fill([FIXTURE_TOOLS, false]),
  );
  expect((await discover(third, { query: "add two numbers" })).tools?.[0]).toMatchObject({ tool: "add" });
  expect(names.flatMap((name) => folder.journal(name).pids())).toHaveLength(6);
  await third.mcpCall("a", "pid");
  await third.close();
  const after = statSync(cacheFile(folder, "a"));
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
});

test("tools that changed while the server was not connected are updated after the next connection", async () => {
  const folder = temp();
  const needs = { inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } };
  folder.writeConfig({ a: serverWith(folder, { old: {}, both: needs }) });
  const first = await start(folder);
  await discover(first);
  expect(failureOf(await first.mcpCall("a", "both")).code).toBe("validation_input");
  await first.close();

  serverWith(folder, { both: {}, fresh: {} });
  const second = await start(folder);
  expect(await toolsOf(second, "a")).toEqual(["old", "both"]);
  expect(folder.journal().pids()).toHaveLength(1);
  // Neither tools nor schemas from the cache reject a call.
  expect(await second.mcpCall("a", "fresh", { message: "new" })).toMatchObject({
    content: [{ text: "new" }],
  });
  expect(await second.mcpCall("a", "both", { message: "free" })).toMatchObject({
    content: [{ text: "free" }],
  });
  expect(await toolsOf(second, "a")).toEqual(["both", "fresh"]);
  expect(failureOf(await second.mcpCall("a", "old")).code).toBe("tool_not_found");
  await second.close();

  const third = await start(folder);
  expect(await toolsOf(third, "a")).toEqual(["both", "fresh"]);
  expect(folder.journal().pids()).toHaveLength(2);
  await third.close();
});

test("a list that changes during a connection is updated without a new one", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--journal", folder.journal().file) });
  const client = await start(folder);
  await client.mcpCall("a", "change", { add: ["later"] });
  await folder
    .journal()
    .until((journal) => journal.methods().filter((one) => one === "tools/list").length === 2);
  expect(textOf(await client.mcpCall("a", "later", { message: "here" }))).toBe("here");
  expect((await serverStatus(client, "a")).toolCount).toBe(FIXTURE_TOOLS + 1);
  expect(folder.journal().pids()).toHaveLength(1);
  await client.close();
});

test("a corrupt cache is ignored and replaced", async () => {
  const folder = temp();
  const faults = [
    "",
    "{",
    "null",
    "[1]",
    '{"entries":{"a":1}}',
    '{"entries":[{"identity":"x","tools":{}}]}',
    "\0",
  ];
  const names = faults.map((_, n) => `server${n}`);
  for (const [n, name] of names.entries()) {
    mkdirSync(dirname(cacheFile(folder, name)), { recursive: true });
    writeFileSync(cacheFile(folder, name), faults[n] as string);
  }
  const server = serverWith(folder, { one: {} });
  folder.writeConfig(Object.fromEntries(names.map((name) => [name, server])));
  for (const run of ["mended", "known"]) {
    const client = await start(folder);
    const { servers } = await discover(client);
    expect(
      servers?.map(({ toolCount }) => toolCount),
      run,
    ).toEqual(names.map(() => 1));
    await client.close();
    expect(folder.journal().pids(), run).toHaveLength(names.length);
  }
});

test("two projects that use one name for different servers have separate caches", async () => {
  const [here, there] = [temp(), temp()];
  here.writeConfig({ "same name/…": serverWith(here, { here: {} }) });
  there.writeConfig({ "same name/…": serverWith(there, { there: {} }) });
  const clients = await Promise.all([start(here), start(there, here.home)]);
  const lists = await Promise.all(clients.map((client) => toolsOf(client, "same name/…")));
  expect(lists).toEqual([["here"], ["there"]]);
  await Promise.all(clients.map((client) => client.close()));
  const again = await Promise.all([start(here), start(there, here.home)]);
  expect(await Promise.all(again.map((client) => toolsOf(client, "same name/…")))).toEqual([
    ["here"],
    ["there"],
  ]);
  expect([here.journal().pids(), there.journal().pids()].map(({ length }) => length)).toEqual([1, 1]);
  expect(readdirSync(join(here.home, "cache"))).toHaveLength(1);
  await Promise.all(again.map((client) => client.close()));
});
