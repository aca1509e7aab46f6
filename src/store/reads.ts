/** What callers read, in a store that several gateways share. Times are those of the database. */
import type { Database } from "./database.ts";

/** What callers read. Callers and rules are any texts of up to 100 characters. */
export interface Reads {
  note(caller: string, rules: readonly string[], read: NewRead): Promise<void>;
  /** What the caller read, by rule, without what has expired. */
  of(caller: string): Promise<ReadonlyMap<string, string>>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

export interface NewRead {
  readonly what: string;
  /** How long the read counts. */
  readonly forMs: number;
}

/** Beyond this the reads that expire first are forgotten. */
const MAX_ROWS = 1_000_000;

const NOTE = `INSERT INTO metamcp_reads AS known (caller, rule, what, until)
  SELECT ?, rule, ?, clock_timestamp() + make_interval(secs => ?)
  FROM jsonb_array_elements_text(?::jsonb) AS rule ORDER BY rule
  ON CONFLICT (caller, rule) DO UPDATE SET what = excluded.what, until = GREATEST(known.until, excluded.until)`;

const SWEEP = `DELETE FROM metamcp_reads WHERE until <= clock_timestamp()
  OR until < (SELECT until FROM metamcp_reads ORDER BY until DESC OFFSET ${MAX_ROWS} LIMIT 1)`;

export class ReadTable implements Reads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async note(caller: string, rules: readonly string[], { what, forMs }: NewRead): Promise<void> {
    await this.#database.query(NOTE, [caller, what, forMs / 1000, JSON.stringify(rules)]);
  }

  async of(caller: string): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#database.query(
      "SELECT rule, what FROM metamcp_reads WHERE caller = ? AND until > clock_timestamp()",
      [caller],
    );
    return new Map(rows.map(({ rule, what }) => [String(rule), String(what)]));
  }

  async sweep(): Promise<void> {
    await this.#database.query(SWEEP);
  }
}
