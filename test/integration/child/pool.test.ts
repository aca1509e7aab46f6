/**
 * The connection pool: how many processes run at once, which ones are evicted, and that evicted servers stay
 * discoverable.
 */
import { expect, onTestFinished, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import type { Journal } from "../../support/journal.ts";
import { discover, failureOf, serverStatus, textOf } from "../../support/meta.ts";
import { alive, gone } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { FIXTURE_TOOLS, fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

interface PoolTest {
  readonly client: RawClient;
  readonly folder: Temp;
  /** The servers that have a running process. */
  running(): string[];
  /** The highest number of processes seen running at once. */
  peak(): number;
}

async function setUp(servers: Record<string, object>, pool: object): Promise<PoolTest> {
  const folder = temp();
  const names = Object.keys(servers);
  const journals = new Map<string, Journal>(names.map((name) => [name, folder.journal(name)]));
  const entries = names.map((name) => [
    name,
    { ...fixture("--journal", folder.journal(name).file), ...servers[name] },
  ]);
  folder.writeConfig(Object.fromEntries(entries), { pool });
  const client = gateway(folder, { flags: ["--log-level", "warn"] });
  const pids = (): number[] => [...journals.values()].flatMap((journal) => journal.pids());
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, pids().filter(alive).length);
  }, 15);
  onTestFinished(() => clearInterval(watch));
  await client.initialize();
  return {
    client,
    folder,
    peak: () => peak,
    running: () => names.filter((name) => journals.get(name)?.pids().some(alive)),
  };
}

const echo = async (client: RawClient, server: string): Promise<string> =>
  textOf(await client.mcpCall(server, "echo", { message: server }));

test("a server is not started if its call is cancelled while it waits for a connection", async () => {
  const bench = await setUp({ a: {}, b: {} }, { poolSize: 1, resPoolSize: 0 });
  const { client, folder } = bench;
  await echo(client, "b");
  const hanging = await occupy(bench, "a");
  client.mcpCall("b", "echo", { message: "b" }).catch(() => {});
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await client.request("ping");
  client.notify("notifications/cancelled", { requestId: hanging });
  expect(await echo(client, "a")).toBe("a");
  expect(bench.running()).toEqual(["a"]);
  expect([folder.journal("a").pids().length, folder.journal("b").pids().length]).toEqual([1, 1]);
  await client.close();
});

/** Keeps the server's connection busy. Returns the id of the call that does it. */
async function occupy({ client, folder }: PoolTest, server: string): Promise<number> {
  client.mcpCall(server, "hang").catch(() => {});
  const id = client.lastId;
  const journal = folder.journal(server);
  await journal.until(() => journal.events().some(({ tool }) => tool === "hang"));
  return id;
}

test("a full pool evicts the server that was idle longest, which stays discoverable without a process", async () => {
  const { client, folder, running, peak } = await setUp({ a: {}, b: {}, c: {}, d: {} }, { poolSize: 2 });
  // A first discovery needs all four servers, two at a time.
  const { servers } = await discover(client);
  expect(servers?.map(({ toolCount }) => toolCount)).toEqual(Array(4).fill(FIXTURE_TOOLS));
  expect(running()).toHaveLength(2);

  for (const server of ["a", "b", "c"]) expect(await echo(client, server)).toBe(server);
  expect(running()).toEqual(["b", "c"]);
  await echo(client, "b");
  await echo(client, "d");
  expect(running()).toEqual(["b", "d"]);

  const starts = folder.journal("a").pids().length;
  expect(await serverStatus(client, "a")).toMatchObject({
    state: "idle",
    connected: false,
    toolCount: FIXTURE_TOOLS,
  });
  const { tools } = await discover(client, { query: "say the message back", server: "a" });
  expect(tools?.map(({ tool }) => tool)).toContain("echo");
  expect(folder.journal("a").pids()).toHaveLength(starts);
  // Calls to all servers at once all get a turn.
  const all = ["a", "b", "c", "d", "a", "c"];
  expect(await Promise.all(all.map((server) => echo(client, server)))).toEqual(all);
  expect(peak()).toBe(2);
  await client.close();
  expect(running()).toEqual([]);
});

test("while all connections are busy calls wait in order, up to their timeout", async () => {
  const bench = await setUp(
    { a: {}, b: {}, hasty: { connectTimeoutMs: 700 }, first: {}, second: {} },
    { poolSize: 2, failureThreshold: 1 },
  );
  const { client, folder, running, peak } = bench;
  const inA = await occupy(bench, "a");
  const inB = await occupy(bench, "b");
  const hasty = failureOf(await client.mcpCall("hasty", "echo", { message: "?" }));
  expect(hasty).toMatchObject({ code: "pool_exhausted", retryable: true, server: "hasty" });
  expect(hasty.retryAfterMs).toBeGreaterThan(0);

  const answered: string[] = [];
  const waiting = ["first", "second"].map((server) =>
    client.mcpCall(server, "count", { key: server }).then(() => answered.push(server)),
  );
  expect((await client.request("ping")).result).toEqual({});
  expect(running()).toEqual(["a", "b"]);
  client.notify("notifications/cancelled", { requestId: inA });
  await Promise.all(waiting);
  expect(answered).toEqual(["first", "second"]);
  // A missing connection does not count as a failure of the server.
  expect(await serverStatus(client, "hasty")).toMatchObject({ state: "idle", toolCount: 0 });
  expect(await echo(client, "second")).toBe("second");
  expect(folder.journal("b").pids().map(alive)).toEqual([true]);
  expect(peak()).toBe(2);
  client.notify("notifications/cancelled", { requestId: inB });
  await client.close();
});

test("an ephemeral child serves all concurrent calls with one process, which ends afterwards", async () => {
  const { client, folder, running } = await setUp({ e: { lifecycle: "ephemeral" } }, {});
  const journal = folder.journal("e");
  const results = await Promise.all(
    ["1", "2", "3"].map((key) => client.mcpCall("e", "count", { key, ms: 100 })),
  );
  expect(results.map(textOf)).toEqual(["1 1", "2 1", "3 1"]);
  // The list came first and used the same process as the calls.
  expect(journal.pids()).toHaveLength(1);
  await gone(journal.pids());
  expect(await serverStatus(client, "e")).toMatchObject({
    state: "idle",
    connected: false,
    toolCount: FIXTURE_TOOLS,
  });
  expect(await echo(client, "e")).toBe("e");
  await gone(journal.pids());
  expect(journal.pids()).toHaveLength(2);
  expect(running()).toEqual([]);
  await client.close();
});

test("a keep-alive child is evicted only if no other one can be", async () => {
  const keep = { lifecycle: "keep-alive" };
  const { client, folder, running, peak } = await setUp(
    { k: keep, a: {}, b: {}, l: keep, m: keep },
    { poolSize: 2 },
  );
  for (const server of ["k", "a", "b", "a"]) await echo(client, server);
  expect(running()).toEqual(["k", "a"]);
  await echo(client, "l");
  expect(running()).toEqual(["k", "l"]);
  expect(folder.journal("k").pids()).toHaveLength(1);
  expect(client.stderr).not.toMatch(/to free a connection/);
  await echo(client, "m");
  expect(running()).toEqual(["l", "m"]);
  expect(client.stderr).toMatch(/to free a connection/);
  expect(peak()).toBe(2);
  await client.close();
});

test("the reserve is used after waiting, and is released when it is idle", async () => {
  const pool = { poolSize: 1, resPoolSize: 1, resPoolTimeout: 200 };
  const bench = await setUp({ a: {}, b: {} }, pool);
  const { client, folder, running, peak } = bench;
  const inA = await occupy(bench, "a");
  expect(await echo(client, "b")).toBe("b");
  await until(() => running().join() === "a", { what: "the reserve to go" });
  expect(["a", "b"].map((server) => folder.journal(server).pids().length)).toEqual([1, 1]);
  expect(peak()).toBeLessThanOrEqual(2);
  client.notify("notifications/cancelled", { requestId: inA });
  await client.close();
});
