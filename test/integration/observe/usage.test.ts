/** Who called what, and when: the sums of a gateway through its admin API. */
import { expect, test } from "vitest";
import { csvField } from "../../../src/admin/routes/usage.ts";
import { systemClock } from "../../../src/engine/system-clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import type { CallRow } from "../../../src/observe/call-schema.ts";
import { CallSums } from "../../../src/observe/sums/call-sums.ts";
import { UsageReader } from "../../../src/observe/sums/usage.ts";
import { sqliteDatabase } from "../../support/test-databases.ts";

const NOW = Date.parse("2026-11-18T12:34:56Z");
const HOUR = 3_600_000;

/** A store with calls of two people at two servers, and its reader. */
async function counted() {
  const store = await sqliteDatabase().open({ now: () => NOW });
  const sums = new CallSums({
    sums: store.sums,
    clock: systemClock,
    log: silentLog,
    now: () => NOW,
    namespaceOf: (_, server) => (server === "u-github" ? { uuid: "n", name: "code" } : undefined),
  });
  const add = (who: string, server: string, more: Partial<CallRow> = {}): void => {
    const row: CallRow = {
      at: NOW - 10_000,
      principal: { kind: "account", id: who, name: `${who}@example.org` },
      client: { name: who === "ada" ? "cursor" : "claude-code" },
      endpoint: { uuid: "e", name: "dev" },
      server: { uuid: `u-${server}`, name: server },
      tool: "list",
      outcome: "ok",
      durationMs: 12,
      requestBytes: 10,
      resultBytes: 100,
      ...more,
    };
    sums.add({ endpoint: row.endpoint, server: row.server, tool: row.tool, method: undefined }, row);
  };
  for (let i = 0; i < 20; i++) add("ada", "github", { outcome: i < 5 ? "error" : "ok" });
  for (let i = 0; i < 10; i++) add("bob", "postgres", { durationMs: 700 });
  add("bob", "github", { at: NOW - 2 * HOUR, outcome: "refused" });
  add("bob", "github", { at: NOW - 50 * HOUR });
  await sums.flush();
  return { add, sums, usage: new UsageReader(store.sums) };
}

test("ranges have all their steps, with what was called in each, and who called what", async () => {
  const { sums, usage } = await counted();
  const read = (range: "1h" | "24h" | "7d" | "30d") => usage.read({ range, strips: true }, NOW);
  const [hour, day, week, month] = await Promise.all((["1h", "24h", "7d", "30d"] as const).map(read));
  expect([hour, day, week, month].map((one) => [one?.series.length, one?.totals.calls])).toEqual([
    [60, 30],
    [24, 31],
    [168, 32],
    [30, 32],
  ]);
  expect(hour?.series.at(-1)).toMatchObject({ at: "2026-11-18T12:34:00.000Z", calls: 30, errors: 5 });
  expect(hour?.flows).toEqual([
    {
      client: "cursor",
      endpoint: { uuid: "e", name: "dev" },
      namespace: { uuid: "n", name: "code" },
      server: { uuid: "u-github", name: "github" },
      calls: 20,
      errors: 5,
      refused: 0,
    },
    expect.objectContaining({
      client: "claude-code",
      server: { uuid: "u-postgres", name: "postgres" },
      calls: 10,
    }),
  ]);
  expect(hour?.took.map(({ server, calls }) => [server?.name, calls])).toEqual([
    ["postgres", 10],
    ["github", 20],
  ]);
  expect(hour?.took[0]?.buckets).toEqual([0, 0, 0, 0, 0, 0, 10, 0, 0, 0]);
  expect(
    month?.callers.map(({ principal, calls, series }) => [principal?.name, calls, series?.slice(-3)]),
  ).toEqual([
    ["ada@example.org", 20, [0, 0, 20]],
    ["bob@example.org", 12, [1, 0, 11]],
  ]);
  expect(day?.callers[1]?.lastAt).toBe(new Date(NOW - 10_000).toISOString());
  await sums.close();
});

test("a tool is used by calls that reached it, not by refused ones", async () => {
  const { add, sums, usage } = await counted();
  add("bob", "postgres", { tool: "drop", outcome: "refused" });
  add("bob", "postgres", { outcome: "refused" });
  await sums.flush();
  const { used } = await usage.toolUse();
  expect(Object.keys(used["u-postgres"] ?? {})).toEqual(["list"]);
  expect(used["u-postgres"]?.list?.calls).toBe(10);
});

test("a filter counts only what matches it, and gives no durations where none are kept", async () => {
  const { sums, usage } = await counted();
  const github = await usage.read({ range: "24h", server: "github" }, NOW);
  expect(github.totals).toMatchObject({ calls: 21, errors: 5, refused: 1 });
  expect(github.took.map(({ tool, calls }) => [tool, calls])).toEqual([["list", 21]]);
  expect(github.series.at(-1)?.p95Ms).toBeGreaterThan(9);
  const bob = await usage.read({ range: "24h", principal: "bob" }, NOW);
  expect(bob.totals).toMatchObject({ calls: 11 });
  expect(bob.totals.p95Ms).toBeUndefined();
  expect(bob.took).toEqual([]);
  await sums.close();
});

test("fields of a CSV file are quoted, and no spreadsheet runs them", () => {
  expect([7, "a", 'a "b", c', "=1+1", "two\nlines", "a;=1+1", "a-b", "＝1"].map(csvField)).toEqual([
    "7",
    "a",
    '"a ""b"", c"',
    "'=1+1",
    '"two\nlines"',
    `"a;'=1+1"`,
    "a-b",
    "'＝1",
  ]);
});

test("far more groups than the reader remembers keep their names, and one caller may have all of them", async () => {
  const counts = { calls: 1, errors: 0, refused: 0, request_bytes: 0, result_bytes: 0 };
  const ids = Array.from({ length: 150_000 }, (_, n) => `g${n}`);
  let read = ids.slice(0, 15_000);
  const usage = new UsageReader({
    byGroup: async () => read.map((of) => ({ of, ...counts, tokens_full: 0, tokens_shown: 0, last: NOW })),
    byBucket: async () => [],
    durations: async () => [],
    calls: async () => [],
    since: async () => 0,
    about: async (some) =>
      new Map(
        some.map((id) => [id, JSON.stringify({ principal: { kind: "account", id: "ada", name: "ada" } })]),
      ),
    add: async () => {},
    prune: async () => {},
  });
  for (const length of [15_000, 30_000, 150_000]) {
    read = ids.slice(0, length);
    const { callers } = await usage.read({ range: "30d" }, NOW);
    expect(callers).toMatchObject([{ principal: { id: "ada" }, calls: length }]);
  }
});
