/** Unusable servers of every kind beside healthy ones. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf, serverStatus, startedBy, textOf } from "../../support/meta.ts";
import { alive, gone, kill } from "../../support/processes.ts";
import { FIXTURE_TOOLS, fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("one server with each kind of fault among twenty does not delay the healthy ones, and each fault is reported", {
  timeout: 120_000,
}, async () => {
  const folder = temp();
  const journal = (name: string) => folder.journal(name);
  const open = folder.path("open");
  const healthy = Array.from({ length: 13 }, (_, n) => `healthy${n}`);
  folder.writeConfig({
    silent: { ...fixture("--no-initialize", "--journal", journal("silent").file), connectTimeoutMs: 4_000 },
    slow: { ...fixture("--wait-for", open, "--journal", journal("slow").file), connectTimeoutMs: 120_000 },
    exits: fixture("--exit-at-once", "3", "--journal", journal("exits").file),
    absent: { command: "no-such-command-anywhere" },
    nowhere: { ...fixture(), cwd: "no-such-folder" },
    flood: fixture("--flood-stderr"),
    garbage: fixture("--garbage"),
    ...Object.fromEntries(healthy.map((name) => [name, fixture("--bare", "--tools", "1")])),
  });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();

  // The other servers answer while two of them hang.
  const hanging = client.mcpCall("silent", "echo", { message: "silent" });
  const late = client.mcpCall("slow", "echo", { message: "slow" });
  const answered: string[] = [];
  void hanging.then(() => answered.push("silent"));
  void late.then(() => answered.push("slow"));
  await Promise.all(
    [journal("silent"), journal("slow")].map((one) => one.until(() => one.pids().length > 0)),
  );
  for (const name of ["flood", "garbage", "healthy0"]) {
    const tool = name === "healthy0" ? "tool_0" : "echo";
    expect(textOf(await client.mcpCall(name, tool, { message: name }))).toBe(name);
    answered.push(name);
  }
  expect((await serverStatus(client, "healthy1")).toolCount).toBe(1);
  expect(answered).not.toContain("slow");
  expect(failureOf(await hanging)).toMatchObject({ code: "server_unavailable" });
  // A process that failed its handshake is ended.
  await gone(journal("silent").pids());

  // On a busy machine some servers may take longer than the first request waits.
  const first = await until(
    async () => {
      const found = await discover(client);
      const known = found.servers?.filter(({ toolCount }) => toolCount > 0) ?? [];
      return known.length >= healthy.length + 2 && found;
    },
    { within: 60_000, what: "the healthy ones" },
  );
  const byName = new Map(first.servers?.map((server) => [server.name, server]));
  for (const name of [...healthy, "flood", "garbage"])
    expect(byName.get(name)?.toolCount, name).toBeGreaterThan(0);
  expect(byName.get("silent")?.reason).toMatch(/not ready within 4000 ms/);
  expect(byName.get("slow")).toMatchObject({ state: "connecting", connected: false, toolCount: 0 });
  expect(byName.get("slow")?.reason).toMatch(/starting/);
  expect(byName.get("exits")?.reason).toMatch(/exited with code 3/);
  expect(byName.get("absent")?.reason).toMatch(/no-such-command-anywhere/);
  expect(byName.get("nowhere")?.reason).toMatch(/no-such-folder/);

  // Discovery waits for a child only once, so the next answer comes before those of many calls sent one after
  // the other.
  const starts = journal("exits").pids().length;
  let discovered = false;
  void discover(client).then(() => {
    discovered = true;
  });
  for (let call = 0; call < 100 && !discovered; call++) await client.mcpCall("healthy0", "tool_0");
  expect(discovered).toBe(true);
  expect(journal("exits").pids()).toHaveLength(starts);

  folder.write("open", "");
  expect(textOf(await late)).toBe("slow");
  expect(await serverStatus(client, "slow")).toMatchObject({ connected: true, toolCount: FIXTURE_TOOLS });
  const living = startedBy(client);
  expect(living.length).toBeGreaterThanOrEqual(16);
  await client.close();
  await gone(living);
  expect(startedBy(client)).toEqual([]);
});

test("discovery does not restart a server that has just failed to start, but a call does", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ exits: fixture("--exit-at-once", "7", "--journal", journal.file) });
  const client = gateway(folder);
  await client.initialize();
  expect(failureOf(await client.mcpCall("exits", "echo"))).toMatchObject({ code: "server_unavailable" });
  expect(journal.pids()).toHaveLength(1);
  const { servers, notice } = await discover(client);
  expect(servers).toMatchObject([{ name: "exits", state: "failed", connected: false, toolCount: 0 }]);
  expect(servers?.[0]?.reason).toMatch(/exited with code 7/);
  expect(notice).toBeUndefined();
  expect((await discover(client, { query: "echo" })).unknown).toMatchObject([{ server: "exits" }]);
  expect(journal.pids()).toHaveLength(1);
  await client.mcpCall("exits", "echo");
  expect(journal.pids()).toHaveLength(2);
  await client.close();
});

test("a server that dies while idle is shown as disconnected and is started again by the next call", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file, "--grandchild=stubborn") });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "echo", { message: "1" });
  expect(await serverStatus(client, "a")).toMatchObject({ state: "idle", connected: true });
  const [first = 0] = journal.pids();
  kill(first);
  await until(async () => !(await serverStatus(client, "a")).connected, { what: "its death to show" });
  const { state, toolCount, reason } = await serverStatus(client, "a");
  expect({ state, toolCount, reason }).toEqual({
    state: "idle",
    toolCount: FIXTURE_TOOLS,
    reason: undefined,
  });
  expect(journal.pids()).toEqual([first]);

  const result = await client.mcpCall("a", "count", { key: "k" });
  expect(textOf(result)).toBe("k 1");
  // A connection is replaced only after all processes of the old one have ended.
  expect(journal.grandchildren().map(alive)).toEqual([false, true]);
  await client.close();
  await gone([...journal.pids(), ...journal.grandchildren()]);
});

test("servers that npx installs get more time, two at a time, and a broken npx cache is named with the command that repairs it", async () => {
  const folder = temp();
  const { command, args } = fixture();
  const npx = folder.path("npx");
  const runner = fileURLToPath(new URL("../../fixture/runner.mjs", import.meta.url));
  writeFileSync(npx, `#!/bin/sh\nexec '${command}' '${runner}' "$@"\n`, { mode: 0o755 });
  const [log, gate] = [folder.path("runner.log"), folder.path("gate")];
  const works = folder.write("works.json", JSON.stringify({ log, gate, server: args }));
  const fails = "npm error Invalid Version: \nnpm notice New version of npm available!";
  const breaks = folder.write("breaks.json", JSON.stringify({ log, fails }));
  const installed = (name: string) => ({ command: npx, args: ["-y", name, works], connectTimeoutMs: 600 });
  folder.writeConfig({
    a: installed("one"),
    b: installed("two"),
    c: installed("three"),
    broken: { command: npx, args: ["-y", "four", breaks] },
    well: fixture(),
  });
  const cached = { ...folder, env: { ...folder.env, npm_config_cache: folder.path("npm") } };
  const client = gateway(cached, { flags: ["--log-level", "error"] });
  await client.initialize();
  const lines = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

  const failed = failureOf(await client.mcpCall("broken", "pid"));
  const npxFolder = join(folder.path("npm"), "_npx");
  expect(failed.message).toContain(`To fix it run: rm -rf ${npxFolder}/`);
  expect(failed.message).toContain("Invalid Version");

  const calls = ["a", "b", "c"].map((name) => client.mcpCall(name, "echo", { message: name }));
  await until(() => lines().length === 3);
  // Longer than connectTimeoutMs.
  await client.mcpCall("well", "sleep", { ms: 1_500 });
  expect(
    lines()
      .slice(1)
      .map((line) => line.split(" ")[0]),
  ).toEqual(["start", "start"]);
  writeFileSync(gate, "");
  expect((await Promise.all(calls)).map(textOf)).toEqual(["a", "b", "c"]);
  expect(lines().filter((line) => line.startsWith("start"))).toHaveLength(4);
  await client.close();
});
