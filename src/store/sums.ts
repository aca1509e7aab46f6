/**
 * The tables with the sums of calls. Every process adds to the same rows, so the sums are those of all
 * replicas.
 */
import { chunks, type Database, placeholders, type Query, type SqlRow, type SqlValue } from "./database.ts";
import {
  type BucketSum,
  COUNTERS,
  type Counts,
  type DurationSum,
  type GroupSum,
  type NewDurations,
  type NewSum,
  SUM_KEPT_MS,
  SUM_PERS,
  type SumBatch,
  type SumPer,
  type SumRange,
  type Sums,
} from "./sum-rows.ts";

const LIST = COUNTERS.join(", ");
const ADDED = COUNTERS.map((name) => `SUM(${name}) AS ${name}`).join(", ");

/** Changes no row if the batch, or a later one of its writer, was written before. */
const BATCH = `INSERT INTO metamcp_sum_batches (writer, n, at) VALUES (?, ?, ?)
  ON CONFLICT (writer) DO UPDATE SET n = excluded.n, at = excluded.at
  WHERE metamcp_sum_batches.n < excluded.n`;

const GROUPS = (count: number): string => `INSERT INTO metamcp_sum_groups (id, about, seen)
  VALUES ${placeholders(count, "(?, ?, ?)")} ON CONFLICT (id) DO UPDATE SET about = excluded.about, seen = excluded.seen`;

const SUMS = (count: number): string => `INSERT INTO metamcp_sums (per, at, of_group, ${LIST}, last)
  VALUES ${placeholders(count, `(?, ?, ?, ${COUNTERS.map(() => "?").join(", ")}, ?)`)}
  ON CONFLICT (per, at, of_group) DO UPDATE SET
  ${COUNTERS.map((name) => `${name} = metamcp_sums.${name} + excluded.${name}`).join(", ")},
  last = CASE WHEN metamcp_sums.last > excluded.last THEN metamcp_sums.last ELSE excluded.last END`;

const DURATIONS = (
  count: number,
): string => `INSERT INTO metamcp_sum_durations (per, at, of_group, bucket, calls)
  VALUES ${placeholders(count, "(?, ?, ?, ?, ?)")}
  ON CONFLICT (per, at, of_group, bucket) DO UPDATE SET calls = metamcp_sum_durations.calls + excluded.calls`;

export class SumTables implements Sums {
  readonly #database: Database;
  readonly #now: () => number;
  /** A JSON array as rows. */
  readonly #given: string;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#given =
      database.dialect === "postgres"
        ? "SELECT jsonb_array_elements_text(?::jsonb)"
        : "SELECT value FROM json_each(?)";
  }

  /** All processes write rows in the same order, so that none waits for another in a circle. */
  async add({ writer, n, groups, sums, durations }: SumBatch): Promise<void> {
    const now = this.#now();
    await this.#database.transaction(async (query) => {
      const { count } = await query(BATCH, [writer, n, now]);
      if (count === 0) return;
      const ids = groups.toSorted((a, b) => order(a.id, b.id));
      await insert(query, GROUPS, ids, (values, { id, about }) => values.push(id, about, now));
      const rows = withTotals(sums).toSorted(
        (a, b) => order(a.per, b.per) || a.at - b.at || order(a.of, b.of),
      );
      await insert(query, SUMS, rows, (values, row) => {
        values.push(row.per, row.at, row.of);
        for (const name of COUNTERS) values.push(row[name]);
        values.push(row.last);
      });
      const times = withTotalDurations(durations).toSorted(
        (a, b) => order(a.per, b.per) || a.at - b.at || order(a.of, b.of) || a.bucket - b.bucket,
      );
      await insert(query, DURATIONS, times, (values, { per, at, of, bucket, calls }) =>
        values.push(per, at, of, bucket, calls),
      );
    });
  }

  async byGroup(range: SumRange): Promise<readonly GroupSum[]> {
    const rows = await this.#read(`of_group, ${ADDED}, MAX(last) AS last`, "metamcp_sums", range, {
      by: "of_group",
    });
    return rows.map((row) => ({ of: String(row["of_group"]), ...countsOf(row), last: Number(row["last"]) }));
  }

  async byBucket(range: SumRange): Promise<readonly BucketSum[]> {
    const rows = await this.#read(`at, ${ADDED}`, "metamcp_sums", range, { by: "at", together: true });
    return rows.map((row) => ({ at: Number(row["at"]), ...countsOf(row) })).sort((a, b) => a.at - b.at);
  }

  async calls(range: SumRange) {
    const rows = await this.#read("of_group, at, SUM(calls) AS calls", "metamcp_sums", range, {
      by: "of_group, at",
    });
    return rows.map(({ of_group, at, calls }) => ({
      of: String(of_group),
      at: Number(at),
      calls: Number(calls),
    }));
  }

  async durations(range: SumRange, by: "of" | "at"): Promise<readonly DurationSum[]> {
    const key = by === "of" ? "of_group" : "at";
    const what = `${key}, bucket, SUM(calls) AS calls`;
    const rows = await this.#read(what, "metamcp_sum_durations", range, {
      by: `${key}, bucket`,
      together: by === "at",
    });
    return rows.map((row) => ({
      key: by === "of" ? String(row[key]) : Number(row[key]),
      bucket: Number(row["bucket"]),
      calls: Number(row["calls"]),
    }));
  }

  async about(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#database.query(
      `SELECT id, about FROM metamcp_sum_groups WHERE id IN (${this.#given})`,
      [JSON.stringify(ids)],
    );
    return new Map(rows.map(({ id, about }) => [String(id), String(about)]));
  }

  async since(): Promise<number> {
    const { rows } = await this.#database.query("SELECT value FROM metamcp_meta WHERE name = 'sums since'");
    return Number(rows[0]?.["value"]);
  }

  async prune(now: number): Promise<void> {
    for (const table of ["metamcp_sums", "metamcp_sum_durations"])
      for (const per of SUM_PERS)
        await this.#database.query(`DELETE FROM ${table} WHERE per IN (?, ?) AND at < ?`, [
          per,
          totalOf(per),
          now - SUM_KEPT_MS[per],
        ]);
    // A writer names its groups again each day, so a group that was not seen for so long has no sums.
    await this.#database.query("DELETE FROM metamcp_sum_groups WHERE seen < ?", [now - SUM_KEPT_MS.day]);
    await this.#database.query("DELETE FROM metamcp_sum_batches WHERE at < ?", [now - SUM_KEPT_MS.hour]);
  }

  async #read(
    what: string,
    table: string,
    { per, from, to, of }: SumRange,
    /** `together`: groups do not matter, so the rows of all together say the same, if all are asked for. */
    { by, together = false }: { readonly by: string; readonly together?: boolean },
  ): Promise<readonly SqlRow[]> {
    const until = to === undefined ? "" : " AND at < ?";
    const only = of ? ` AND of_group IN (${this.#given})` : "";
    const { rows } = await this.#database.query(
      `SELECT ${what} FROM ${table} WHERE per = ? AND at >= ?${until}${only} GROUP BY ${by}`,
      [
        together && !of ? totalOf(per) : per,
        from,
        ...(to === undefined ? [] : [to]),
        ...(of ? [JSON.stringify(of)] : []),
      ],
    );
    return rows;
  }
}

async function insert<T>(
  query: Query,
  statement: (count: number) => string,
  rows: readonly T[],
  give: (values: SqlValue[], row: T) => void,
): Promise<void> {
  for (const chunk of chunks(rows)) {
    const values: SqlValue[] = [];
    for (const row of chunk) give(values, row);
    await query(statement(chunk.length), values);
  }
}

function countsOf(row: SqlRow): Counts {
  return Object.fromEntries(COUNTERS.map((name) => [name, Number(row[name])])) as Counts;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The rows of all groups together have a period of their own, so that nothing reads them by mistake. */
type AnyPer = SumPer | `${SumPer} total`;

function totalOf(per: SumPer): AnyPer {
  return `${per} total`;
}

type Stored<Row extends { readonly per: SumPer }> = Omit<Row, "per"> & { readonly per: AnyPer };

type Mutable<Row> = { -readonly [K in keyof Row]: Row[K] };

/** With the sums of all groups: charts over time then read one row for each step. */
function withTotals(sums: readonly NewSum[]): readonly Stored<NewSum>[] {
  const totals = new Map<string, Mutable<Stored<NewSum>>>();
  for (const row of sums) {
    const key = `${row.per} ${row.at}`;
    const total = totals.get(key);
    if (!total) {
      totals.set(key, { ...row, per: totalOf(row.per), of: "" });
      continue;
    }
    for (const name of COUNTERS) total[name] += row[name];
    total.last = Math.max(total.last, row.last);
  }
  return [...sums, ...totals.values()];
}

function withTotalDurations(durations: readonly NewDurations[]): readonly Stored<NewDurations>[] {
  const totals = new Map<string, Mutable<Stored<NewDurations>>>();
  for (const row of durations) {
    const key = `${row.per} ${row.at} ${row.bucket}`;
    const total = totals.get(key);
    if (total) total.calls += row.calls;
    else totals.set(key, { ...row, per: totalOf(row.per), of: "" });
  }
  return [...durations, ...totals.values()];
}
