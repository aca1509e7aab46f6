/** What was called how often, how it went and how long it took: by endpoint, server and tool, per minute and per hour. Bounded, in memory. */
import type { CallRow } from "../call-row.ts";
import { Durations } from "./durations.ts";

export type StatsBy = "endpoint" | "server" | "tool";
export type StatsPer = "minute" | "hour";

export interface Figures {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

export interface StatsRow extends Figures {
  readonly endpoint?: CallRow["endpoint"];
  readonly server?: CallRow["server"];
  readonly tool?: string;
  readonly tokensSaved?: number;
}

export interface StatsAnswer {
  readonly per: StatsPer;
  readonly totals: Figures & { readonly tokensSaved: number };
  /** The oldest first; what happened in each. */
  readonly series: readonly (Figures & { readonly at: string; readonly tokensSaved: number })[];
  /** The most called first. */
  readonly rows: readonly StatsRow[];
}

const WINDOWS: Readonly<Record<StatsPer, { readonly ms: number; readonly most: number }>> = {
  minute: { ms: 60_000, most: 60 },
  hour: { ms: 3_600_000, most: 48 },
};
/** Tools of endpoints that one bucket tells apart; the others are one. */
const MOST_CELLS = 500;

interface Cell {
  readonly endpoint: CallRow["endpoint"];
  readonly server: CallRow["server"];
  readonly tool: string;
  calls: number;
  errors: number;
  refused: number;
  readonly durations: Durations;
}

interface Bucket {
  readonly at: number;
  readonly cells: Map<string, Cell>;
  /** By endpoint. */
  readonly tokens: Map<string, number>;
}

const OTHER: CallRow["server"] = { name: "other" };

export class Stats {
  readonly #buckets: Readonly<Record<StatsPer, Bucket[]>> = { minute: [], hour: [] };

  /** `known`: the catalog has the tool; what a caller made up is counted as one. */
  add(row: CallRow, known: boolean): void {
    for (const per of ["minute", "hour"] as const) {
      const bucket = this.#bucket(per, row.at);
      const cell = cellOf(bucket, row, known);
      cell.calls += 1;
      if (row.outcome === "error") cell.errors += 1;
      if (row.outcome === "refused") cell.refused += 1;
      cell.durations.add(row.durationMs);
    }
  }

  saved(endpoint: string, tokens: number, at: number): void {
    for (const per of ["minute", "hour"] as const) {
      const bucket = this.#bucket(per, at);
      bucket.tokens.set(endpoint, (bucket.tokens.get(endpoint) ?? 0) + tokens);
    }
  }

  answer(per: StatsPer, by: StatsBy, now: number): StatsAnswer {
    const { ms, most } = WINDOWS[per];
    const oldest = (Math.floor(now / ms) - most + 1) * ms;
    const buckets = this.#buckets[per].filter(({ at }) => at >= oldest);
    const cells = buckets.flatMap((bucket) => [...bucket.cells.values()]);
    const byAt = new Map(buckets.map((bucket) => [bucket.at, bucket]));
    return {
      per,
      totals: { ...figuresOf(cells), tokensSaved: sum(buckets.flatMap(tokensIn)) },
      series: Array.from({ length: most }, (_, i) => {
        const at = oldest + i * ms;
        const bucket = byAt.get(at);
        return {
          at: new Date(at).toISOString(),
          ...figuresOf([...(bucket?.cells.values() ?? [])]),
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
    const last = buckets.at(-1);
    if (last && last.at >= at) return last;
    const bucket: Bucket = { at, cells: new Map(), tokens: new Map() };
    buckets.push(bucket);
    if (buckets.length > most) buckets.shift();
    return bucket;
  }
}

function cellOf({ cells }: Bucket, row: CallRow, known: boolean): Cell {
  const place = known ? row : { endpoint: row.endpoint, server: OTHER, tool: OTHER.name };
  const key = `${row.endpoint.uuid}\n${place.server.uuid ?? place.server.name}\n${place.tool}`;
  const found = cells.get(key);
  if (found) return found;
  if (cells.size >= MOST_CELLS && place !== OTHER_PLACE)
    return cells.get(OTHER_KEY) ?? newCell(cells, OTHER_KEY, OTHER_PLACE);
  return newCell(cells, key, place);
}

const OTHER_KEY = "\n\n";
const OTHER_PLACE = { endpoint: OTHER, server: OTHER, tool: OTHER.name };

function newCell(
  cells: Map<string, Cell>,
  key: string,
  { endpoint, server, tool }: Pick<Cell, "endpoint" | "server" | "tool">,
): Cell {
  const cell = { endpoint, server, tool, calls: 0, errors: 0, refused: 0, durations: new Durations() };
  cells.set(key, cell);
  return cell;
}

function rowsOf(cells: readonly Cell[], buckets: readonly Bucket[], by: StatsBy): readonly StatsRow[] {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const server = cell.server.uuid ?? cell.server.name;
    const key =
      by === "endpoint"
        ? (cell.endpoint.uuid ?? cell.endpoint.name)
        : by === "server"
          ? server
          : `${server}\n${cell.tool}`;
    const group = groups.get(key);
    if (group) group.push(cell);
    else groups.set(key, [cell]);
  }
  const rows = [...groups].map(([key, group]): StatsRow => {
    const { endpoint, server, tool } = group.at(-1) as Cell;
    if (by !== "endpoint") return { server, ...(by === "tool" && { tool }), ...figuresOf(group) };
    const tokensSaved = sum(buckets.map(({ tokens }) => tokens.get(key) ?? 0));
    return { endpoint, ...figuresOf(group), tokensSaved };
  });
  return rows.sort((a, b) => b.calls - a.calls);
}

function figuresOf(cells: readonly Cell[]): Figures {
  const durations = new Durations();
  for (const cell of cells) durations.merge(cell.durations);
  const [p50Ms, p95Ms] = [durations.percentile(0.5), durations.percentile(0.95)];
  return {
    calls: sum(cells.map(({ calls }) => calls)),
    errors: sum(cells.map(({ errors }) => errors)),
    refused: sum(cells.map(({ refused }) => refused)),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}

function tokensIn({ tokens }: Bucket): readonly number[] {
  return [...tokens.values()];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
