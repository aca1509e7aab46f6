/**
 * Reads the sums of calls for one range of time, and adds them up by what people ask for. A few statements,
 * whatever the number of calls.
 */
import {
  type Counts,
  type GroupSum,
  SUM_MS,
  type SumPer,
  type SumRange,
  type Sums,
} from "../../store/sum-rows.ts";
import type { Named } from "../call-schema.ts";
import { Durations, middleOf } from "../live/durations.ts";
import type { ToolUses, Use } from "../live/tool-use.ts";
import { type CallPlace, idOf } from "./sum-group.ts";
import { mergedSums, partsOf } from "./sum-parts.ts";
import type { Range, Usage } from "./usage-schema.ts";

const STEPS: Readonly<Record<Range, { readonly per: SumPer; readonly count: number }>> = {
  "1h": { per: "minute", count: 60 },
  "24h": { per: "hour", count: 24 },
  "7d": { per: "hour", count: 168 },
  "30d": { per: "day", count: 30 },
};

/** Ids or names. A call must match each. */
export type UsageFilter = Partial<
  Readonly<
    Record<"endpoint" | "namespace" | "server" | "tool" | "principal" | "key" | "client", string | undefined>
  >
>;

export interface UsageQuestion extends UsageFilter {
  readonly range: Range;
  /** With calls over time for each caller. */
  readonly strips?: boolean;
}

/** A group with what it is about. */
interface Row extends GroupSum {
  readonly place: CallPlace;
}

/** Members of places by id. The store never changes what an id means. */
const MAX_KNOWN = 20_000;

export class UsageReader {
  readonly #sums: Sums;
  readonly #known = new Map<string, CallPlace>();
  #since: number | undefined;

  constructor(sums: Sums) {
    this.#sums = sums;
  }

  async read({ range, strips = false, ...filter }: UsageQuestion, now: number): Promise<Usage> {
    const { per, count } = STEPS[range];
    const ms = SUM_MS[per];
    const from = (Math.floor(now / ms) - count + 1) * ms;
    const whole: SumRange = { per, from };
    const filtered = Object.values(filter).some((value) => value !== undefined);
    const parts = partsOf(whole, now);
    const [all, took] = await Promise.all([this.#rows(parts), this.#took(parts, filter)]);
    const rows = all.filter(({ place }) => matches(place, filter));
    const ids = filtered ? { of: rows.map(({ of }) => of) } : {};
    const [buckets, times, calls] = await Promise.all([
      this.#sums.byBucket({ ...whole, ...ids }),
      this.#sums.durations(
        { ...whole, ...(filtered && { of: [...new Set(took.map(({ of }) => of))] }) },
        "at",
      ),
      strips ? this.#sums.calls({ ...whole, ...ids }) : [],
    ]);
    // Durations are kept only by server and tool.
    const { server: _, tool: __, ...others } = filter;
    const timed = Object.values(others).every((value) => value === undefined);
    this.#since ??= await this.#sums.since();
    const at = (step: number): number => from + step * ms;
    const bucketAt = new Map(buckets.map((bucket) => [bucket.at, [bucket]]));
    const timesAt = new Map(grouped(times, ({ key }) => String(key)).map((group) => [group[0].key, group]));
    const stepOf = new Map(Array.from({ length: count }, (_, step) => [at(step), step]));
    return {
      range,
      per,
      from: iso(from),
      to: iso(now),
      since: iso(this.#since),
      totals: {
        ...countsOf(rows),
        requestBytes: sum(rows, "request_bytes"),
        resultBytes: sum(rows, "result_bytes"),
        tokensFull: sum(rows, "tokens_full"),
        tokensShown: sum(rows, "tokens_shown"),
        ...(timed && percentiles(times)),
      },
      series: Array.from({ length: count }, (_, step) => ({
        at: iso(at(step)),
        ...countsOf(bucketAt.get(at(step)) ?? []),
        ...(timed && percentiles(timesAt.get(at(step)) ?? [])),
      })),
      flows: flowsOf(rows),
      bounds: BOUNDS,
      took: timed ? tookOf(took, filter.server !== undefined) : [],
      callers: callersOf(rows, stripsOf(calls, stepOf, count)),
    };
  }

  /** The use of tools as far as days are kept, and since when. */
  async toolUse(filter: UsageFilter = {}): Promise<{ readonly since: number; readonly used: ToolUses }> {
    const rows = await this.#rows([{ per: "day", from: 0 }]);
    const used = new Map<string, Map<string, Use>>();
    for (const { calls: all, refused, last, place } of rows) {
      const { server, tool, method } = place;
      // A refused call did not use the tool.
      const calls = all - refused;
      if (calls === 0 || server?.uuid === undefined || tool === undefined || method !== undefined) continue;
      if (!matches(place, filter)) continue;
      const tools = used.get(server.uuid) ?? new Map<string, Use>();
      const known = tools.get(tool);
      tools.set(tool, { calls: calls + (known?.calls ?? 0), lastAt: Math.max(last, known?.lastAt ?? 0) });
      used.set(server.uuid, tools);
    }
    this.#since ??= await this.#sums.since();
    const uses = [...used].map(([server, tools]) => [server, Object.fromEntries(tools)] as const);
    return { since: this.#since, used: Object.fromEntries(uses) };
  }

  async #rows(ranges: readonly SumRange[]): Promise<readonly Row[]> {
    const sums = mergedSums(await Promise.all(ranges.map((range) => this.#sums.byGroup(range))));
    const places = await this.#places(sums.map(({ of }) => of));
    return sums.map((row) => ({ ...row, place: places.get(row.of) ?? {} }));
  }

  async #took(ranges: readonly SumRange[], filter: UsageFilter): Promise<readonly Took[]> {
    const rows = (await Promise.all(ranges.map((range) => this.#sums.durations(range, "of")))).flat();
    const places = await this.#places(rows.map(({ key }) => String(key)));
    return rows
      .map(({ key, bucket, calls }) => ({
        of: String(key),
        place: places.get(String(key)) ?? {},
        bucket,
        calls,
      }))
      .filter(({ place }) => matches(place, { server: filter.server, tool: filter.tool }));
  }

  /** What these groups are about. Forgetting others must not touch the answer, so it is a map of its own. */
  async #places(ids: readonly string[]): Promise<ReadonlyMap<string, CallPlace>> {
    const places = new Map<string, CallPlace>();
    const unknown = new Set<string>();
    for (const id of ids) {
      const known = this.#known.get(id);
      if (known) places.set(id, known);
      else unknown.add(id);
    }
    if (unknown.size === 0) return places;
    if (this.#known.size + unknown.size > MAX_KNOWN) this.#known.clear();
    for (const [id, about] of await this.#sums.about([...unknown])) {
      const place = JSON.parse(about) as CallPlace;
      places.set(id, place);
      if (this.#known.size < MAX_KNOWN) this.#known.set(id, place);
    }
    return places;
  }
}

interface Took {
  readonly of: string;
  readonly place: CallPlace;
  readonly bucket: number;
  readonly calls: number;
}

function matches(place: CallPlace, filter: UsageFilter): boolean {
  const is = (expected: string | undefined, ...values: readonly (string | undefined)[]): boolean =>
    expected === undefined || values.includes(expected);
  const named = (one: Named | undefined): readonly (string | undefined)[] => [one?.uuid, one?.name];
  return (
    is(filter.endpoint, ...named(place.endpoint)) &&
    is(filter.namespace, ...named(place.namespace)) &&
    is(filter.server, ...named(place.server)) &&
    is(filter.tool, place.tool) &&
    is(filter.principal, place.principal?.id, place.principal?.name) &&
    is(filter.key, place.key?.id, place.principal?.kind === "key" ? place.principal.id : undefined) &&
    is(filter.client, place.client)
  );
}

function flowsOf(rows: readonly Row[]): Usage["flows"] {
  const calls = rows.filter((row) => row.calls > 0);
  const groups = grouped(calls, ({ place }) =>
    JSON.stringify([place.client, idOf(place.endpoint), idOf(place.namespace), idOf(place.server)]),
  );
  return groups
    .map((group) => {
      const { client, endpoint, namespace, server } = group[0].place;
      return { client, endpoint, namespace, server, ...countsOf(group) };
    })
    .sort((a, b) => b.calls - a.calls);
}

function tookOf(rows: readonly Took[], byTool: boolean): Usage["took"] {
  const groups = grouped(rows, ({ place: { server, tool, method } }) =>
    JSON.stringify(byTool ? [idOf(server), tool, method] : [idOf(server)]),
  );
  return groups
    .map((group) => {
      const { server, tool, method } = group[0].place;
      const durations = histogramOf(group);
      return {
        server,
        ...(byTool && { tool, method: method as Usage["took"][number]["method"] }),
        calls: sum(group, "calls"),
        buckets: coarse(durations.counts),
        p50Ms: durations.percentile(0.5),
        p95Ms: durations.percentile(0.95),
      };
    })
    .sort((a, b) => (b.p95Ms ?? 0) - (a.p95Ms ?? 0));
}

function callersOf(rows: readonly Row[], strips: ReadonlyMap<string, readonly number[]>): Usage["callers"] {
  const calls = rows.filter((row) => row.calls > 0);
  return grouped(calls, ({ place }) => JSON.stringify([place.principal?.id, place.key?.id]))
    .map((group) => {
      const { principal, key } = group[0].place;
      const clients = [...new Set(group.flatMap(({ place }) => place.client ?? []))];
      const series = group.map(({ of }) => strips.get(of) ?? []);
      return {
        principal,
        ...(key && { key }),
        ...(clients.length > 0 && { clients }),
        ...countsOf(group),
        requestBytes: sum(group, "request_bytes"),
        resultBytes: sum(group, "result_bytes"),
        lastAt: iso(group.reduce((latest, { last }) => Math.max(latest, last), 0)),
        ...(strips.size > 0 && { series: added(series) }),
      };
    })
    .sort((a, b) => b.calls - a.calls);
}

/** The calls of each group in each step. */
function stripsOf(
  calls: Awaited<ReturnType<Sums["calls"]>>,
  stepOf: ReadonlyMap<number, number>,
  count: number,
): ReadonlyMap<string, readonly number[]> {
  const strips = new Map<string, number[]>();
  for (const row of calls) {
    const strip = strips.get(row.of) ?? Array.from({ length: count }, () => 0);
    const step = stepOf.get(row.at);
    if (step !== undefined) strip[step] = (strip[step] ?? 0) + row.calls;
    strips.set(row.of, strip);
  }
  return strips;
}

function added(strips: readonly (readonly number[])[]): readonly number[] {
  const length = Math.max(0, ...strips.map((strip) => strip.length));
  return Array.from({ length }, (_, at) => strips.reduce((total, strip) => total + (strip[at] ?? 0), 0));
}

function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

function histogramOf(rows: readonly { readonly bucket: number; readonly calls: number }[]): Durations {
  const counts: number[] = [];
  for (const { bucket, calls } of rows) counts[bucket] = (counts[bucket] ?? 0) + calls;
  return Durations.of(Array.from(counts, (calls) => calls ?? 0));
}

function percentiles(rows: readonly { readonly bucket: number; readonly calls: number }[]) {
  const durations = histogramOf(rows);
  const [p50Ms, p95Ms] = [durations.percentile(0.5), durations.percentile(0.95)];
  return { ...(p50Ms !== undefined && { p50Ms }), ...(p95Ms !== undefined && { p95Ms }) };
}

function countsOf(rows: readonly Counts[]): Pick<Counts, "calls" | "errors" | "refused"> {
  return { calls: sum(rows, "calls"), errors: sum(rows, "errors"), refused: sum(rows, "refused") };
}

function sum<K extends string>(rows: readonly Readonly<Record<K, number>>[], name: K): number {
  return rows.reduce((total, row) => total + row[name], 0);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Upper bounds, within 20 %. A last part has everything above. */
const BOUNDS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000] as const;

function coarse(counts: readonly number[]): readonly number[] {
  const parts = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  for (const [bucket, calls] of counts.entries()) {
    const part = BOUNDS.findIndex((bound) => middleOf(bucket) <= bound);
    const at = part < 0 ? BOUNDS.length : part;
    parts[at] = (parts[at] ?? 0) + calls;
  }
  return parts;
}
