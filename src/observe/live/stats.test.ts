import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallGroup } from "../call-groups.ts";
import type { CallRow } from "../call-schema.ts";
import { bucketOf, Durations } from "./durations.ts";
import { Stats } from "./stats.ts";
import { STATS_BY, type StatsPer, type StatsRow } from "./stats-answer.ts";
import { type StatsFigures, statsAnswer } from "./stats-figures.ts";

const group = (tool: string): CallGroup => ({
  endpoint: { uuid: "e", name: "team" },
  server: { uuid: "s", name: "fix" },
  tool,
  method: undefined,
});
const row = (at: number, outcome: CallRow["outcome"] = "ok") => ({ at, outcome, durationMs: 5 });
const [ECHO, OTHER] = [group("echo"), group("other")];

const MINUTE = 60_000;

const answer = (stats: Stats, per: StatsPer, now: number) => statsAnswer([stats.figures(per, "tool", now)]);

test("calls count in the current minute after a clock that was ahead was corrected", () => {
  const stats = new Stats();
  stats.add(ECHO, row(0));
  stats.add(ECHO, row(1_000 * MINUTE));
  stats.saved("e", 7, 1_001 * MINUTE);
  stats.add(ECHO, row(MINUTE));
  const { totals, series } = answer(stats, "minute", MINUTE);
  expect(totals).toMatchObject({ calls: 2, tokensSaved: 0 });
  expect(series.slice(-2).map(({ calls }) => calls)).toEqual([1, 1]);
});

test("a call counts in its minute and its hour, until these leave the window", () => {
  const stats = new Stats();
  stats.add(ECHO, row(0));
  stats.add(ECHO, row(MINUTE, "error"));
  stats.add(OTHER, row(MINUTE, "refused"));
  const now = answer(stats, "minute", MINUTE);
  expect(now.totals).toMatchObject({ calls: 3, errors: 1, refused: 1 });
  expect(now.series).toHaveLength(60);
  expect(now.series.slice(-2).map(({ calls }) => calls)).toEqual([1, 2]);
  expect(now.rows.map(({ tool, calls }) => [tool, calls])).toEqual([
    ["echo", 2],
    ["other", 1],
  ]);
  expect(answer(stats, "minute", 60 * MINUTE).totals.calls).toBe(2);
  expect(answer(stats, "minute", 200 * MINUTE).totals.calls).toBe(0);
  expect(answer(stats, "hour", 200 * MINUTE).totals.calls).toBe(3);
});

test("the number of rows is limited, whatever the number of tools", () => {
  const stats = new Stats();
  for (let i = 0; i < 10_000; i++) stats.add(group(`tool ${i}`), row(0));
  const { totals, rows } = answer(stats, "minute", 0);
  expect(totals.calls).toBe(10_000);
  expect(rows.length).toBeLessThanOrEqual(501);
});

test("percentiles are accurate to 21 percent", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.2, max: 200_000, noNaN: true }), { minLength: 1 }), (times) => {
      const durations = new Durations();
      for (const ms of times) durations.add(bucketOf(ms));
      const sorted = times.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(0.95 * sorted.length) - 1] as number;
      const estimate = durations.percentile(0.95) as number;
      expect(estimate).toBeGreaterThan(exact / 1.21);
      expect(estimate).toBeLessThan(exact * 1.21);
    }),
  );
});

test("figures of several replicas add up as if one had made all calls", () => {
  const call = fc.record({
    replica: fc.nat(2),
    tool: fc.constantFrom(ECHO, OTHER),
    at: fc.integer({ min: 0, max: 59 * MINUTE }),
    durationMs: fc.double({ min: 0.2, max: 200_000, noNaN: true }),
    outcome: fc.constantFrom("ok" as const, "error" as const, "refused" as const),
  });
  fc.assert(
    fc.property(fc.array(call), (calls) => {
      const [whole, parts] = [new Stats(), [new Stats(), new Stats(), new Stats()]];
      for (const { replica, tool, ...made } of calls.toSorted((a, b) => a.at - b.at))
        for (const stats of [whole, parts[replica] as Stats]) {
          stats.add(tool, made);
          stats.saved("e", 5, made.at);
        }
      for (const by of STATS_BY) {
        const figures = parts.map((one) => sent(one.figures("minute", by, 59 * MINUTE)));
        const [first, ...rest] = figures as [StatsFigures];
        const { rows, ...sum } = statsAnswer([first, ...rest]);
        const { rows: expected, ...all } = statsAnswer([whole.figures("minute", by, 59 * MINUTE)]);
        expect(sum).toEqual(all);
        expect(sorted(rows)).toEqual(sorted(expected));
      }
    }),
    { numRuns: 20 },
  );
});

const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const sorted = (rows: readonly StatsRow[]) =>
  rows.toSorted((a, b) => ((a.tool ?? "") < (b.tool ?? "") ? -1 : 1));
