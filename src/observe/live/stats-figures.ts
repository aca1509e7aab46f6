/**
 * Statistics of calls before percentiles are computed, so that those of several replicas can be added. Pure,
 * and JSON.
 */
import { Durations } from "./durations.ts";
import type { Figures, StatsAnswer, StatsPer, StatsRow } from "./stats-answer.ts";

export interface Counted {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
  /** The counts of a histogram of durations. */
  readonly durations: readonly number[];
}

interface Saving extends Counted {
  readonly tokensSaved: number;
}

/** What a row is about. */
type About = Pick<StatsRow, "endpoint" | "server" | "tool" | "method">;

export interface StatsFigures {
  readonly per: StatsPer;
  readonly totals: Saving;
  /** Oldest first. */
  readonly series: readonly (Saving & { readonly at: string })[];
  readonly rows: readonly (Counted & { readonly about: About; readonly tokensSaved?: number })[];
}

/** The answer for the sum of these. Times are those of the first, because clocks differ. */
export function statsAnswer(all: readonly [StatsFigures, ...StatsFigures[]]): StatsAnswer {
  const [{ per, series }] = all;
  return {
    per,
    totals: shownSaving(all.map(({ totals }) => totals)),
    series: series.map(({ at }) => ({
      at,
      ...shownSaving(all.flatMap((one) => one.series.filter((bucket) => bucket.at === at))),
    })),
    rows: rowsOf(all.flatMap(({ rows }) => rows)),
  };
}

function rowsOf(rows: StatsFigures["rows"]): readonly StatsRow[] {
  const groups = new Map<string, StatsFigures["rows"][number][]>();
  for (const row of rows) {
    const key = keyOf(row.about);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()]
    .map((group): StatsRow => {
      const { about, tokensSaved } = group[0] as StatsFigures["rows"][number];
      const saved = tokensSaved === undefined ? {} : { tokensSaved: sumOf(group, (row) => row.tokensSaved) };
      return { ...about, ...figuresOf(group), ...saved };
    })
    .sort((a, b) => b.calls - a.calls);
}

function keyOf({ endpoint, server, tool, method }: About): string {
  const of = endpoint ?? server;
  return JSON.stringify([of?.uuid ?? of?.name, tool, method]);
}

function shownSaving(all: readonly Saving[]): Figures & { readonly tokensSaved: number } {
  return { ...figuresOf(all), tokensSaved: sumOf(all, (one) => one.tokensSaved) };
}

function figuresOf(all: readonly Counted[]): Figures {
  const durations = new Durations();
  for (const one of all) durations.merge(Durations.of(one.durations));
  const [p50Ms, p95Ms] = [durations.percentile(0.5), durations.percentile(0.95)];
  return {
    calls: sumOf(all, ({ calls }) => calls),
    errors: sumOf(all, ({ errors }) => errors),
    refused: sumOf(all, ({ refused }) => refused),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}

function sumOf<T>(all: readonly T[], numberOf: (one: T) => number | undefined): number {
  return all.reduce((total, one) => total + (numberOf(one) ?? 0), 0);
}
