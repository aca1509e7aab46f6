/**
 * Statistics of calls: counts, outcomes and durations by endpoint, server and tool, per minute and per hour.
 * In memory, of limited size.
 */

import { type CallGroup, OTHER } from "../call-groups.ts";
import type { CallRow } from "../call-schema.ts";
import { bucketOf, Durations } from "./durations.ts";
import { STATS_PER, type StatsBy, type StatsPer } from "./stats-answer.ts";
import type { Counted, StatsFigures } from "./stats-figures.ts";

const WINDOWS: Readonly<Record<StatsPer, { readonly ms: number; readonly most: number }>> = {
  minute: { ms: 60_000, most: 60 },
  hour: { ms: 3_600_000, most: 48 },
};
/** Groups that a bucket counts separately. Further groups are counted together. */
const MAX_CELLS = 500;

interface Cell {
  readonly of: CallGroup;
  calls: number;
  errors: number;
  refused: number;
  readonly durations: Durations;
}

interface Bucket {
  readonly at: number;
  readonly cells: Map<CallGroup, Cell>;
  /** By endpoint. */
  readonly tokens: Map<string, number>;
}

const OTHERS: CallGroup = {
  endpoint: { name: OTHER },
  server: { name: OTHER },
  tool: OTHER,
  method: undefined,
};

export class Stats {
  readonly #buckets: Readonly<Record<StatsPer, Bucket[]>> = { minute: [], hour: [] };

  add(
    group: CallGroup,
    { at, outcome, durationMs }: Pick<CallRow, "at" | "outcome" | "durationMs">,
    took = bucketOf(durationMs),
  ): void {
    for (const per of STATS_PER) {
      const cell = cellOf(this.#bucket(per, at), group);
      cell.calls += 1;
      if (outcome === "error") cell.errors += 1;
      if (outcome === "refused") cell.refused += 1;
      cell.durations.add(took);
    }
  }

  saved(endpoint: string, tokens: number, at: number): void {
    for (const per of STATS_PER) {
      const bucket = this.#bucket(per, at);
      bucket.tokens.set(endpoint, (bucket.tokens.get(endpoint) ?? 0) + tokens);
    }
  }

  figures(per: StatsPer, by: StatsBy, now: number): StatsFigures {
    const { ms, most } = WINDOWS[per];
    const oldest = (Math.floor(now / ms) - most + 1) * ms;
    const buckets = this.#buckets[per].filter(({ at }) => at >= oldest);
    const cells = buckets.flatMap((bucket) => [...bucket.cells.values()]);
    const byAt = new Map(buckets.map((bucket) => [bucket.at, bucket]));
    return {
      per,
      totals: { ...countedIn(cells), tokensSaved: sum(buckets.flatMap(tokensIn)) },
      series: Array.from({ length: most }, (_, i) => {
        const at = oldest + i * ms;
        const bucket = byAt.get(at);
        return {
          at: new Date(at).toISOString(),
          ...countedIn([...(bucket?.cells.values() ?? [])]),
          tokensSaved: sum(bucket ? tokensIn(bucket) : []),
        };
      }),
      rows: rowsOf(cells, buckets, by),
    };
  }

  #bucket(per: StatsPer, time: number): Bucket {
    const { ms, most } = WINDOWS[per];
    const at = Math.floor(time / ms) * ms;
    const buckets = this.#buckets[per];
    // The clock was set back. Buckets in the future would otherwise get all calls until then.
    while ((buckets.at(-1)?.at ?? at) > at + ms) buckets.pop();
    const last = buckets.at(-1);
    if (last && last.at >= at) return last;
    const bucket: Bucket = { at, cells: new Map(), tokens: new Map() };
    buckets.push(bucket);
    if (buckets.length > most) buckets.shift();
    return bucket;
  }
}

function cellOf({ cells }: Bucket, group: CallGroup): Cell {
  const found = cells.get(group);
  if (found) return found;
  const of = cells.size < MAX_CELLS ? group : OTHERS;
  const cell = cells.get(of) ?? { of, calls: 0, errors: 0, refused: 0, durations: new Durations() };
  cells.set(of, cell);
  return cell;
}

function rowsOf(cells: readonly Cell[], buckets: readonly Bucket[], by: StatsBy): StatsFigures["rows"] {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = KEYS[by](cell.of);
    const group = groups.get(key);
    if (group) group.push(cell);
    else groups.set(key, [cell]);
  }
  return [...groups].map(([key, group]) => {
    const { endpoint, server, tool, method } = (group.at(-1) as Cell).of;
    if (by === "server") return { about: { server }, ...countedIn(group) };
    if (by === "tool") return { about: { server, tool, ...(method && { method }) }, ...countedIn(group) };
    const tokensSaved = sum(buckets.map(({ tokens }) => tokens.get(key) ?? 0));
    return { about: { endpoint }, ...countedIn(group), tokensSaved };
  });
}

const KEYS: Readonly<Record<StatsBy, (group: CallGroup) => string>> = {
  endpoint: ({ endpoint }) => endpoint.uuid ?? endpoint.name,
  server: ({ server }) => server.uuid ?? server.name,
  tool: ({ server, tool, method = "" }) => `${server.uuid ?? server.name}\n${tool}\n${method}`,
};

function countedIn(cells: readonly Cell[]): Counted {
  const durations = new Durations();
  for (const cell of cells) durations.merge(cell.durations);
  return {
    calls: sum(cells.map(({ calls }) => calls)),
    errors: sum(cells.map(({ errors }) => errors)),
    refused: sum(cells.map(({ refused }) => refused)),
    durations: durations.counts,
  };
}

function tokensIn({ tokens }: Bucket): readonly number[] {
  return [...tokens.values()];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
