/** How often something was tried, over all gateways on the store. Times are those of the database. */
import type { Database } from "./database.ts";

/** Counts tries, by the clock of the database. */
export interface Tries {
  /** Counts one more try in each counter, if all of them have room for it. */
  take(counters: readonly Counter[]): Promise<Tried>;
  /** Removes a counted try. */
  giveBack(keys: readonly string[], at: number): Promise<void>;
  /** Deletes what is too old to count. */
  sweep(): Promise<void>;
}

export interface Counter {
  readonly key: string;
  /** The number of tries within any time of `windowMs`. */
  readonly limit: number;
  readonly windowMs: number;
}

/** `at` names the counted try. Undefined if there was no room for it. */
export type Tried =
  | { readonly waitMs: 0; readonly at: number }
  | { readonly waitMs: number; readonly at: undefined };

/** Microseconds, so that no two tries of a counter have the same time. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/** Locks the counters, always in the same order, and reads them. */
const LOCK = `INSERT INTO metamcp_tries AS known (counter, at, until)
  SELECT counter, '{}', clock_timestamp() + interval '1 minute'
  FROM jsonb_array_elements_text(?::jsonb) AS counter ORDER BY counter
  ON CONFLICT (counter) DO UPDATE SET counter = excluded.counter
  RETURNING counter, array_to_string(known.at, ',') AS at, ${NOW} AS now`;

const ADD = `UPDATE metamcp_tries AS known
  SET at = ARRAY(SELECT t FROM unnest(known.at) AS t WHERE t > ?::bigint - "windowMs" * 1000 ORDER BY t) || ?::bigint,
    until = clock_timestamp() + make_interval(secs => "windowMs" / 1000.0)
  FROM jsonb_to_recordset(?::jsonb) AS given (key text, "windowMs" bigint) WHERE known.counter = given.key`;

export class TryTable implements Tries {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(counters: readonly Counter[]): Promise<Tried> {
    return await this.#database.transaction(async (query) => {
      const { rows } = await query(LOCK, [JSON.stringify(counters.map(({ key }) => key))]);
      const now = Math.max(...rows.map((row) => Number(row["now"])));
      const times = new Map(rows.map(({ counter, at }) => [counter, timesIn(String(at))]));
      const waits = counters.map(({ key, limit, windowMs }) => {
        const within = (times.get(key) ?? []).filter((at) => at > now - windowMs * 1_000);
        const oldest = within[within.length - limit];
        return oldest === undefined ? 0 : (oldest - now) / 1_000 + windowMs;
      });
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { waitMs, at: undefined };
      await query(ADD, [now, now, JSON.stringify(counters)]);
      return { waitMs: 0, at: now };
    });
  }

  async giveBack(keys: readonly string[], at: number): Promise<void> {
    await this.#database.query(
      `UPDATE metamcp_tries SET at = array_remove(at, ?::bigint)
       WHERE counter IN (SELECT jsonb_array_elements_text(?::jsonb))`,
      [at, JSON.stringify(keys)],
    );
  }

  async sweep(): Promise<void> {
    await this.#database.query("DELETE FROM metamcp_tries WHERE until <= clock_timestamp()");
  }
}

function timesIn(text: string): readonly number[] {
  return text === "" ? [] : text.split(",").map(Number);
}
