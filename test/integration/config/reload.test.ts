/** Edits of the config file while the gateway runs: what they change, and what they do not. */
import { execFileSync } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf, serverStatus, textOf } from "../../support/meta.ts";
import { alive, gone } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { FIXTURE_TOOLS, fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** A server that keeps a journal under its own name. */
const withJournal = (folder: Temp, name: string, ...flags: string[]): { command: string; args: string[] } =>
  fixture("--journal", folder.journal(name).file, ...flags);

/** Replaces the file by a rename, as editors do. */
function replaceConfig(folder: Temp, servers: Record<string, unknown>): void {
  writeFileSync(folder.path("new"), JSON.stringify({ mcpServers: servers }));
  renameSync(folder.path("new"), folder.config);
}

const namesShown = async (client: RawClient): Promise<string[]> =>
  (await discover(client)).servers?.map(({ name }) => name) ?? [];

/** The value of the variable SETTING that the server sees. */
async function settingOf(client: RawClient, server: string): Promise<unknown> {
  const result = await client.mcpCall(server, "env", { names: ["SETTING"] });
  return (result["structuredContent"] as { values: Record<string, unknown> }).values["SETTING"];
}

test("servers are added, removed and disabled without an effect on the others", async () => {
  const folder = temp();
  const stays = withJournal(folder, "stays");
  folder.writeConfig({ stays, goes: withJournal(folder, "goes"), off: withJournal(folder, "off") });
  const client = gateway(folder);
  await client.initialize();
  await Promise.all(["stays", "goes", "off"].map((name) => client.mcpCall(name, "pid")));
  const leaving = [...folder.journal("goes").pids(), ...folder.journal("off").pids()];
  // A running call finishes although its server was removed.
  const underWay = client.mcpCall("goes", "count", { key: "last", hangs: 0, ms: 2_500 });
  await folder.journal("goes").until((journal) => journal.executions("last") === 1);

  replaceConfig(folder, {
    stays,
    comes: withJournal(folder, "comes"),
    off: { ...withJournal(folder, "off"), disabled: true },
  });
  await until(async () => !(await namesShown(client)).includes("goes"));
  expect(await namesShown(client)).toEqual(["stays", "comes"]);
  expect(failureOf(await client.mcpCall("off", "pid")).code).toBe("server_not_found");
  expect(failureOf(await client.mcpCall("goes", "pid")).code).toBe("server_not_found");
  expect(textOf(await underWay)).toBe("last 1");
  await gone(leaving);
  expect(textOf(await client.mcpCall("comes", "echo", { message: "new" }))).toBe("new");
  expect(folder.journal("stays").pids().map(alive)).toEqual([true]);
  await client.close();
});

test("running calls of a changed server finish on the old process, and the next call uses the new settings", async () => {
  const folder = temp();
  const env = (value: string) => ({ env: { SETTING: value } });
  const idle = withJournal(folder, "idle");
  folder.writeConfig({ a: { ...withJournal(folder, "a"), ...env("old") }, idle: { ...idle, ...env("old") } });
  const client = gateway(folder);
  await client.initialize();
  const setting = (server: string): Promise<unknown> => settingOf(client, server);
  expect(await setting("a")).toBe("old");
  const journal = folder.journal("a");
  client.mcpCall("a", "hang").catch(() => {});
  const hanging = client.lastId;
  await journal.until(() => journal.events().some(({ tool }) => tool === "hang"));

  // The file is written in place. A connected server is reconnected immediately, and an idle one stays idle.
  folder.writeConfig({ a: { ...withJournal(folder, "a"), ...env("new") }, idle: { ...idle, ...env("new") } });
  await journal.until(() => journal.pids().length === 2);
  await until(async () => (await serverStatus(client, "a")).connected);
  expect(journal.pids().map(alive)).toEqual([true, true]);
  expect(await setting("a")).toBe("new");
  expect(folder.journal("idle").pids()).toEqual([]);
  client.notify("notifications/cancelled", { requestId: hanging });
  await gone(journal.pids()[0] as number);

  // Without running calls the old process ends first.
  folder.writeConfig({ a: { ...withJournal(folder, "a"), ...env("newest") }, idle });
  await journal.until(() => journal.pids().length === 3);
  expect(alive(journal.pids()[1] as number)).toBe(false);
  expect(await setting("a")).toBe("newest");
  expect(journal.pids()).toHaveLength(3);
  expect(await setting("idle")).toBeNull();
  await client.close();
});

test("settings that do not affect the process apply immediately to the same process", async () => {
  const folder = temp();
  const server = withJournal(folder, "a");
  folder.writeConfig({ a: server });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "pid");
  folder.writeConfig({ a: { ...server, timeoutMs: 2_000, retry: "never", tools: { deny: ["echo"] } } });
  await until(async () => (await serverStatus(client, "a")).toolCount === FIXTURE_TOOLS - 1);
  expect(failureOf(await client.mcpCall("a", "echo", { message: "?" })).code).toBe("tool_not_found");
  expect(failureOf(await client.mcpCall("a", "hang")).code).toBe("timeout");
  const journal = folder.journal("a");
  expect(journal.pids()).toHaveLength(1);
  failureOf(await client.mcpCall("a", "count", { key: "k", crashes: 1 }));
  expect(journal.executions("k")).toBe(1);

  await client.mcpCall("a", "pid");
  folder.writeConfig({ a: { ...server, lifecycle: "ephemeral" } });
  await gone(journal.pids());
  await client.mcpCall("a", "pid");
  await gone(journal.pids());
  expect(journal.pids()).toHaveLength(3);
  await client.close();
});

test("a connection attempt with old settings is dropped, and waiting calls continue with the new ones", async () => {
  const folder = temp();
  folder.writeConfig({ a: withJournal(folder, "a", "--no-initialize") });
  const client = gateway(folder);
  await client.initialize();
  const journal = folder.journal("a");
  const waiting = client.mcpCall("a", "count", { key: "k" });
  await journal.until(() => journal.pids().length === 1);
  folder.writeConfig({ a: withJournal(folder, "a") });
  expect(textOf(await waiting)).toBe("k 1");
  await gone(journal.pids()[0] as number);
  expect(journal.pids()).toHaveLength(2);
  await client.close();
});

test("calls succeed while the settings change repeatedly", async () => {
  const folder = temp();
  const write = (n: number): void =>
    void folder.writeConfig({
      a: { ...withJournal(folder, "a"), env: { SETTING: `${n}` } },
      b: withJournal(folder, "b"),
    });
  write(0);
  const client = gateway(folder);
  await client.initialize();
  const journal = folder.journal("a");
  let over = false;
  const workers = Array.from({ length: 8 }, async (_, w) => {
    for (let n = 0; !over; n++) {
      const [server, key] = [n % 4 === 0 ? "b" : "a", `${w}-${n}`];
      expect(textOf(await client.mcpCall(server, "count", { key, ms: n % 30 }))).toBe(`${key} 1`);
    }
  });
  for (let n = 0; n < 7; n++) {
    write(n);
    await until(async () => (await settingOf(client, "a")) === `${n}`);
  }
  over = true;
  await Promise.all(workers);
  await gone(journal.pids().slice(0, -1));
  expect(journal.pids()).toHaveLength(7);
  expect(folder.journal("b").pids()).toHaveLength(1);
  await client.close();
});

test("a broken file changes nothing and is reported until it is fixed", async () => {
  const folder = temp();
  const a = withJournal(folder, "a");
  folder.writeConfig({ a });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "pid");
  folder.write(".mcp.json", '{"mcpServers": {"a": ');
  const notice = async (args: object = {}): Promise<string | undefined> =>
    (await discover(client, args)).notice;
  await until(async () => (await notice()) !== undefined);
  expect(await notice()).toMatch(/\.mcp\.json:1:\d+/);
  expect(await notice({ query: "echo" })).toMatch(/cannot be used/);
  expect(await namesShown(client)).toEqual(["a"]);
  expect(textOf(await client.mcpCall("a", "echo", { message: "still" }))).toBe("still");
  expect(client.stderr).toMatch(/the last valid one stays in use/);

  folder.writeConfig({ a, b: withJournal(folder, "b") });
  await until(async () => (await namesShown(client)).includes("b"));
  expect(await notice()).toBeUndefined();
  expect(folder.journal("a").pids().map(alive)).toEqual([true]);
  await client.close();
});

test("a config from a pipe is read once and does not prevent the exit", async () => {
  const folder = temp();
  const pipe = folder.path("pipe");
  execFileSync("mkfifo", [pipe]);
  const written = writeFile(pipe, JSON.stringify({ mcpServers: { a: withJournal(folder, "a") } }));
  const client = gateway({ ...folder, config: pipe });
  await client.initialize();
  await written;
  expect(await discover(client)).toMatchObject({ servers: [{ name: "a" }] });
  expect((await discover(client)).notice).toBeUndefined();
  expect((await client.close()).code).toBe(0);
});

test("a config that appears later is used, and a deleted one removes its servers", async () => {
  const folder = temp();
  const client = gateway(folder);
  await client.initialize();
  expect((await discover(client)).notice).toMatch(/no config file at .*picked up when it appears/);
  folder.writeConfig({ a: withJournal(folder, "a") });
  await until(async () => (await namesShown(client)).includes("a"));
  expect((await discover(client)).notice).toBeUndefined();
  const pid = Number(textOf(await client.mcpCall("a", "pid")));
  rmSync(folder.config);
  await until(async () => (await namesShown(client)).length === 0);
  await gone(pid);
  await client.close();
});

test("a new embedder is used for the next search, and a removed one is not", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const inputs: string[][] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { input } = (await json(request)) as { input: string[] };
    inputs.push(input);
    // The embedder relates the query to the tool "hang".
    const vector = (text: string): number[] => (/Never answers|zebra/.test(text) ? [1, 0] : [0, 1]);
    const data = input.map((text, index) => ({ index, embedding: vector(text) }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }));
  };
  const service = createServer((request, response) => void answer(request, response));
  onTestFinished(() => void service.close());
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  const client = gateway(folder);
  await client.initialize();
  await discover(client, { query: "zebra stripes" });
  expect(inputs).toEqual([]);

  folder.writeConfig({ a: fixture() }, { embedder: { url: `http://127.0.0.1:${port}`, model: "m" } });
  await until(async () => {
    const { tools } = await discover(client, { query: "zebra stripes" });
    return tools?.[0]?.tool === "hang";
  });
  expect(inputs.flat()).toContain("zebra stripes");

  folder.writeConfig({ a: fixture() });
  await until(async () => {
    const count = inputs.length;
    await discover(client, { query: `zebra number ${count}` });
    return inputs.length === count;
  });
  await client.close();
});
