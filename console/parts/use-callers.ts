/** The use of people and keys in the last seven days. */
import type { Usage } from "../api/types.ts";
import { useResource } from "../live/resource.ts";
import { may } from "../session.ts";

export interface CallerUse {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
  readonly lastAt: string;
  /** Calls of each of the last seven times 24 hours, oldest first. */
  readonly days: readonly number[];
}

const EVERY_MS = 30_000;
const HOURS = 24;

/** By the id that `idOf` gives. */
export function useCallers(
  idOf: (caller: Usage["callers"][number]) => string | undefined,
): ReadonlyMap<string, CallerUse> {
  const params = may("stats.read") ? { range: "7d", strips: "true" } : undefined;
  const usage = useResource("/usage", params, { everyMs: EVERY_MS }).value.value;
  const all = new Map<string, CallerUse>();
  for (const caller of usage?.callers ?? []) {
    const id = idOf(caller);
    if (id === undefined) continue;
    const { calls, errors, refused, lastAt, series = [] } = caller;
    const before = all.get(id);
    all.set(id, {
      calls: calls + (before?.calls ?? 0),
      errors: errors + (before?.errors ?? 0),
      refused: refused + (before?.refused ?? 0),
      lastAt: before && before.lastAt > lastAt ? before.lastAt : lastAt,
      days: daysOf(series).map((one, at) => one + (before?.days[at] ?? 0)),
    });
  }
  return all;
}

function daysOf(hours: readonly number[]): readonly number[] {
  return Array.from({ length: Math.ceil(hours.length / HOURS) }, (_, day) =>
    hours.slice(day * HOURS, (day + 1) * HOURS).reduce((sum, calls) => sum + calls, 0),
  );
}
