/**
 * Sums of all groups together, kept beside those of each group: charts over time then read one row for each
 * step, however many groups there are. Pure.
 */
import { COUNTERS, type NewDurations, type NewSum, type SumPer } from "./sum-rows.ts";

/** The rows of all groups together have a period of their own, so that nothing reads them by mistake. */
export type AnyPer = SumPer | `${SumPer} total`;

export function totalOf(per: SumPer): AnyPer {
  return `${per} total`;
}

type Stored<Row extends { readonly per: SumPer }> = Omit<Row, "per"> & { readonly per: AnyPer };

export function withTotals(sums: readonly NewSum[]): readonly Stored<NewSum>[] {
  const totals = new Map<string, Record<(typeof COUNTERS)[number], number> & Stored<NewSum>>();
  for (const row of sums) {
    const key = `${row.per} ${row.at}`;
    const total = totals.get(key);
    if (!total) totals.set(key, { ...row, per: totalOf(row.per), of: "" });
    else {
      for (const name of COUNTERS) total[name] += row[name];
      totals.set(key, { ...total, last: Math.max(total.last, row.last) });
    }
  }
  return [...sums, ...totals.values()];
}

export function withTotalDurations(durations: readonly NewDurations[]): readonly Stored<NewDurations>[] {
  const totals = new Map<string, Stored<NewDurations>>();
  for (const row of durations) {
    const key = `${row.per} ${row.at} ${row.bucket}`;
    const calls = row.calls + (totals.get(key)?.calls ?? 0);
    totals.set(key, { ...row, per: totalOf(row.per), of: "", calls });
  }
  return [...durations, ...totals.values()];
}
