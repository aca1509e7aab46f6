/** Splits a range of hours: its whole days are read from the sums of days, which are far fewer rows. Pure. */
import { COUNTERS, type GroupSum, SUM_MS, type SumRange } from "../../store/sum-rows.ts";

export function partsOf(range: SumRange, now: number): readonly SumRange[] {
  const firstDay = Math.ceil(range.from / SUM_MS.day) * SUM_MS.day;
  const today = Math.floor(now / SUM_MS.day) * SUM_MS.day;
  if (range.per !== "hour" || firstDay >= today) return [range];
  return [
    ...(range.from < firstDay ? [{ ...range, to: firstDay }] : []),
    { ...range, per: "day", from: firstDay, to: today },
    { ...range, from: today },
  ];
}

/** Adds up rows of the same group. */
export function mergedSums(parts: readonly (readonly GroupSum[])[]): readonly GroupSum[] {
  const [first = [], ...others] = parts;
  if (others.length === 0) return first;
  const merged = new Map<string, GroupSum>();
  for (const row of parts.flat()) {
    const known = merged.get(row.of);
    const counts = COUNTERS.map((name) => [name, row[name] + (known?.[name] ?? 0)] as const);
    merged.set(row.of, { ...row, ...Object.fromEntries(counts), last: Math.max(row.last, known?.last ?? 0) });
  }
  return [...merged.values()];
}
