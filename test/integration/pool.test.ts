/** How many processes there are at once, who must go for whom, and that nobody is forgotten who went. */
import { expect, onTestFinished, test } from "vitest";
import { gateway } from "../support/gateway.ts";
import type { Journal } from "../support/journal.ts";
import { discover, failureOf, shown, textOf } from "../support/meta.ts";
import { alive, gone } from "../support/processes.ts";
import type { RawClient } from "../support/raw-client.ts";
import { FIXTURE_TOOLS, fixture, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

interface Bench {
  readonly client: RawClient;
  readonly folder: Temp;
  /** Who has a living process. */
  living(): string[];
  /** The most processes that were ever seen alive together. */
  most(): number;
}

async function setUp(servers: Record<string, object>, pool: object): Promise<Bench> {
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
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, pids().filter(alive).length);
  }, 15);
  onTestFinished(() => clearInterval(watch));
  await client.initialize();
  return {
    client,
    folder,
    most: () => most,
    living: () => names.filter((name) => journals.get(name)?.pids().some(alive)),
  };
}

const echo = async (client: RawClient, server: string): Promise<string> =>
  textOf(await client.mcpCall(server, "echo", { message: server }));

test("a server whose caller gave up before there was a place for it is not started", async () => {
  const bench = await setUp({ a: {}, b: {} }, { poolSize: 1, resPoolSize: 0 });
  const { client, folder } = bench;
  await echo(client, "b");
  const hanging = await occupy(bench, "a");
  client.mcpCall("b", "echo", { message: "b" }).catch(() => {});
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await client.request("ping");
  client.notify("notifications/cancelled", { requestId: hanging });
  expect(await echo(client, "a")).toBe("a");
  expect(bench.living()).toEqual(["a"]);
  expect([folder.journal("a").pids().length, folder.journal("b").pids().length]).toEqual([1, 1]);
  await client.close();
});

/** Keeps the server's connection in use; returns the id of the call that does. */
async function occupy({ client, folder }: Bench, server: string): Promise<number> {
  client.mcpCall(server, "hang").catch(() => {});
  const id = client.lastId;
  const journal = folder.journal(server);
  await journal.until(() => journal.events().some(({ tool }) => tool === "hang"));
  return id;
}

test("a full pool evicts who has been idle longest, and who went stays discoverable without a process", async () => {
  const { client, folder, living, most } = await setUp({ a: {}, b: {}, c: {}, d: {} }, { poolSize: 2 });
  // A cold discovery needs all four, two at a time.
  const { servers } = await discover(client);
  expect(servers?.map(({ toolCount }) => toolCount)).toEqual(Array(4).fill(FIXTURE_TOOLS));
  expect(living()).toHaveLength(2);

  for (const server of ["a", "b", "c"]) expect(await echo(client, server)).toBe(server);
  expect(living()).toEqual(["b", "c"]);
  await echo(client, "b");
  await echo(client, "d");
  expect(living()).toEqual(["b", "d"]);

  const starts = folder.journal("a").pids().length;
  expect(await shown(client, "a")).toMatchObject({
    state: "idle",
    connected: false,
    toolCount: FIXTURE_TOOLS,
  });
  const { tools } = await discover(client, { query: "say the message back", server: "a" });
  expect(tools?.map(({ tool }) => tool)).toContain("echo");
  expect(folder.journal("a").pids()).toHaveLength(starts);
  // Everybody at once: each gets its turn.
  const everybody = ["a", "b", "c", "d", "a", "c"];
  expect(await Promise.all(everybody.map((server) => echo(client, server)))).toEqual(everybody);
  expect(most()).toBe(2);
  await client.close();
  expect(living()).toEqual([]);
});

test("where all are busy callers wait their turn, and not for ever", async () => {
  const bench = await setUp(
    { a: {}, b: {}, hasty: { connectTimeoutMs: 700 }, first: {}, second: {} },
    { poolSize: 2, failureThreshold: 1 },
  );
  const { client, folder, living, most } = bench;
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
  expect(living()).toEqual(["a", "b"]);
  client.notify("notifications/cancelled", { requestId: inA });
  await Promise.all(waiting);
  expect(answered).toEqual(["first", "second"]);
  // No place was no failure of the server.
  expect(await shown(client, "hasty")).toMatchObject({ state: "idle", toolCount: 0 });
  expect(await echo(client, "second")).toBe("second");
  expect(folder.journal("b").pids().map(alive)).toEqual([true]);
  expect(most()).toBe(2);
  client.notify("notifications/cancelled", { requestId: inB });
  await client.close();
});

test("an ephemeral child serves what is in flight with one process and ends right after", async () => {
  const { client, folder, living } = await setUp({ e: { lifecycle: "ephemeral" } }, {});
  const journal = folder.journal("e");
  const results = await Promise.all(
    ["1", "2", "3"].map((key) => client.mcpCall("e", "count", { key, ms: 100 })),
  );
  expect(results.map(textOf)).toEqual(["1 1", "2 1", "3 1"]);
  // The list came first, and over the same process as the calls.
  expect(journal.pids()).toHaveLength(1);
  await gone(journal.pids());
  expect(await shown(client, "e")).toMatchObject({
    state: "idle",
    connected: false,
    toolCount: FIXTURE_TOOLS,
  });
  expect(await echo(client, "e")).toBe("e");
  await gone(journal.pids());
  expect(journal.pids()).toHaveLength(2);
  expect(living()).toEqual([]);
  await client.close();
});

test("a keep-alive child yields only where nobody else could", async () => {
  const keep = { lifecycle: "keep-alive" };
  const { client, folder, living, most } = await setUp(
    { k: keep, a: {}, b: {}, l: keep, m: keep },
    { poolSize: 2 },
  );
  for (const server of ["k", "a", "b", "a"]) await echo(client, server);
  expect(living()).toEqual(["k", "a"]);
  await echo(client, "l");
  expect(living()).toEqual(["k", "l"]);
  expect(folder.journal("k").pids()).toHaveLength(1);
  expect(client.stderr).not.toMatch(/to free a connection/);
  await echo(client, "m");
  expect(living()).toEqual(["l", "m"]);
  expect(client.stderr).toMatch(/to free a connection/);
  expect(most()).toBe(2);
  await client.close();
});

test("the reserve is for who has waited, and goes again when it is idle", async () => {
  const pool = { poolSize: 1, resPoolSize: 1, resPoolTimeout: 200 };
  const bench = await setUp({ a: {}, b: {} }, pool);
  const { client, folder, living, most } = bench;
  const inA = await occupy(bench, "a");
  expect(await echo(client, "b")).toBe("b");
  await until(() => living().join() === "a", { what: "the reserve to go" });
  expect(["a", "b"].map((server) => folder.journal(server).pids().length)).toEqual([1, 1]);
  expect(most()).toBeLessThanOrEqual(2);
  client.notify("notifications/cancelled", { requestId: inA });
  await client.close();
});
