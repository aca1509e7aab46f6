import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import type { SumBatch } from "../../store/sum-rows.ts";
import type { CallGroup } from "../call-groups.ts";
import type { CallRow } from "../call-schema.ts";
import { CallSums } from "./call-sums.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");
const GITHUB: CallGroup = {
  endpoint: { uuid: "e", name: "dev" },
  server: { uuid: "s", name: "github" },
  tool: "list_issues",
  method: undefined,
};

function row(more: Partial<CallRow> = {}): CallRow {
  return {
    at: NOON,
    principal: { kind: "account", id: "ada", name: "ada@example.org", key: { id: "k", name: "laptop" } },
    client: { name: "cursor" },
    endpoint: GITHUB.endpoint,
    server: GITHUB.server,
    tool: GITHUB.tool,
    outcome: "ok",
    durationMs: 12,
    requestBytes: 10,
    resultBytes: 100,
    ...more,
  };
}

function counting() {
  const clock = new ManualClock();
  const written: SumBatch[] = [];
  const state = { fails: false, broken: false, now: NOON };
  const sums = new CallSums({
    clock,
    log: silentLog,
    now: () => state.now,
    namespaceOf: () => ({ uuid: "n", name: "shared" }),
    sums: {
      add: async (batch) => {
        written.push(batch);
        if (state.fails) throw new StoreError("unavailable", "away");
        if (state.broken) throw new Error("a row is too large");
      },
      prune: async () => {},
    },
  });
  return { clock, written, state, sums };
}

test("many calls become one batch with a row per minute, hour and day, every few seconds", async () => {
  const { clock, written, sums } = counting();
  for (let i = 0; i < 1_000; i++)
    sums.add(GITHUB, row({ at: NOON + i, outcome: i % 10 === 0 ? "error" : "ok" }));
  sums.add(GITHUB, row({ outcome: "refused" }));
  expect(written).toEqual([]);
  clock.advance(5_000);
  await sums.flush();
  expect(written).toHaveLength(1);
  const { sums: rows, groups, durations } = written[0] as SumBatch;
  expect(
    rows.map(({ per, at, calls, errors, refused, result_bytes }) => [
      per,
      at,
      calls,
      errors,
      refused,
      result_bytes,
    ]),
  ).toEqual([
    ["minute", NOON, 1_001, 100, 1, 100_100],
    ["hour", NOON, 1_001, 100, 1, 100_100],
    ["day", NOON - 12 * 3_600_000, 1_001, 100, 1, 100_100],
  ]);
  expect(rows[0]?.last).toBe(NOON);
  expect(durations.map(({ calls }) => calls)).toEqual([1_001, 1_001, 1_001]);
  expect(groups.map(({ about }) => JSON.parse(about))).toEqual([
    {
      ...GITHUB,
      method: undefined,
      namespace: { uuid: "n", name: "shared" },
      principal: { kind: "account", id: "ada", name: "ada@example.org" },
      key: { id: "k", name: "laptop" },
      client: "cursor",
    },
    { server: GITHUB.server, tool: GITHUB.tool },
  ]);
  sums.add(GITHUB, row());
  await sums.flush();
  // The store knows the groups.
  expect(written[1]).toMatchObject({ n: 2, groups: [] });
});

test("after a batch of many rows the next one waits longer, after one of few it does not", async () => {
  const { clock, written, sums } = counting();
  const written5s = async (callers: number) => {
    const before = written.length;
    for (let i = 0; i < callers; i++)
      sums.add(GITHUB, row({ principal: { kind: "account", id: `p${i}`, name: "" } }));
    clock.advance(5_000);
    await new Promise(setImmediate);
    return written.length - before;
  };
  expect(await written5s(400)).toBe(1);
  expect(await written5s(1)).toBe(0);
  expect(await written5s(1)).toBe(0);
  expect(await written5s(0)).toBe(1);
  expect(written[1]?.sums.filter(({ per }) => per === "day")).toMatchObject([{ calls: 2 }]);
  expect(await written5s(1)).toBe(1);
});

test("what is counted in one minute is the same however often it is written", async () => {
  const { written, sums } = counting();
  const slow = row({ durationMs: 900 });
  for (let i = 0; i < 3; i++) {
    sums.add(GITHUB, row());
    sums.add(GITHUB, slow);
    await sums.flush();
  }
  await sums.flush();
  expect(written.map((batch) => batch.sums.map(({ calls }) => calls))).toEqual(Array(3).fill([2, 2, 2]));
  expect(written.map((batch) => batch.durations.map(({ calls }) => calls))).toEqual(
    Array(3).fill([1, 1, 1, 1, 1, 1]),
  );
  expect(new Set(written.flatMap((batch) => batch.sums.map(({ of }) => of))).size).toBe(1);
});

test("groups of a batch that was lost are named again", async () => {
  const { written, state, sums } = counting();
  sums.add(GITHUB, row());
  state.broken = true;
  await sums.flush();
  state.broken = false;
  sums.add(GITHUB, row());
  await sums.flush();
  expect(written[1]?.groups).toEqual(written[0]?.groups);
});

test("a batch that may have arrived is sent again unchanged, and later calls after it", async () => {
  const { written, state, sums } = counting();
  sums.add(GITHUB, row());
  state.fails = true;
  await expect(sums.flush()).rejects.toThrow("away");
  sums.add(GITHUB, row({ outcome: "error" }));
  await expect(sums.flush()).rejects.toThrow("away");
  expect(written[1]).toBe(written[0]);
  state.fails = false;
  await sums.flush();
  expect(written[2]).toBe(written[0]);
  expect(written[3]).toMatchObject({ n: 2, sums: [{ calls: 1, errors: 1 }, {}, {}] });
});

test("callers beyond the limit are gathered by endpoint and server; no call is lost", async () => {
  const { written, sums } = counting();
  for (let i = 0; i < 10_000; i++)
    sums.add(GITHUB, row({ principal: { kind: "account", id: `p${i}`, name: "" }, at: NOON + i }));
  await sums.flush();
  const { sums: rows, groups } = written[0] as SumBatch;
  expect(groups.length).toBeLessThan(3_010);
  const hours = rows.filter(({ per }) => per === "hour");
  expect(hours.reduce((total, { calls }) => total + calls, 0)).toBe(10_000);
  const rest = groups
    .map(({ about }) => JSON.parse(about))
    .filter(({ principal }) => principal?.kind === "other");
  expect(rest).toMatchObject([{ server: GITHUB.server, endpoint: GITHUB.endpoint }]);
});

test("who changes the name of the client with each call crowds out nobody", async () => {
  const { written, sums } = counting();
  const bob = { kind: "account", id: "bob", name: "bob@example.org" } as const;
  for (let minute = 0; minute < 3; minute++) {
    const at = NOON + minute * 60_000;
    for (let i = 0; i < 5_000; i++) sums.add(GITHUB, row({ client: { name: `bot ${minute} ${i}` }, at }));
    sums.add(GITHUB, row({ principal: bob, at }));
  }
  await sums.flush();
  const { sums: rows, groups } = written[0] as SumBatch;
  expect(groups.length).toBeLessThan(2_010);
  const of = groups.filter(({ about }) => about.includes("bob@")).map(({ id }) => id);
  const days = rows.filter((one) => one.per === "day" && of.includes(one.of));
  expect(days).toMatchObject([{ calls: 3 }]);
});

test("while the store is away for long, minutes are given up first and hours stay right", async () => {
  const { written, state, sums } = counting();
  state.fails = true;
  sums.add(GITHUB, row());
  await sums.flush().catch(() => {});
  const minutes = 250;
  for (let minute = 0; minute < minutes; minute++)
    for (let i = 0; i < 100; i++)
      sums.add(GITHUB, row({ at: NOON + minute * 60_000, client: { name: `client ${i}` } }));
  state.fails = false;
  state.now = NOON + minutes * 60_000;
  await sums.flush();
  const all = written.slice(1).flatMap((batch) => batch.sums);
  const calls = (per: string): number =>
    all.filter((one) => one.per === per).reduce((total, one) => total + one.calls, 0);
  expect(calls("hour")).toBe(minutes * 100 + 1);
  expect(calls("minute")).toBeLessThan(minutes * 100);
});

test("what was counted is written at the stop", async () => {
  const { written, sums } = counting();
  sums.add(GITHUB, row());
  sums.tokens({ uuid: "e", name: "dev" }, 8_536, 623, NOON);
  await sums.close();
  expect(written[0]?.sums.filter(({ per }) => per === "hour")).toMatchObject([
    { calls: 1 },
    { calls: 0, tokens_full: 8_536, tokens_shown: 623 },
  ]);
});
