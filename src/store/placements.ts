/**
 * The table of servers that run at one replica. Only Postgres has it. Who may run a server, and until when,
 * is judged by the clock of the database.
 */
import type { Database, SqlRow } from "./database.ts";

/**
 * Which replica runs a server that may run only once. A placement ends by itself, by the clock of the
 * database.
 */
export interface Placements {
  /**
   * Places the server at `holder` for this time, unless another replica has it. Returns what is true then.
   */
  take(server: string, holder: string, ms: number): Promise<PlacementRow>;
  /** Extends those of the given placements that `holder` still has. Returns all placements. */
  renew(servers: readonly string[], holder: string, ms: number): Promise<readonly RenewedPlacement[]>;
  /** Passes a placement on to another replica. */
  give(server: string, from: string, to: string, ms: number): Promise<void>;
  release(server: string, holder: string): Promise<void>;
}

export interface PlacementRow {
  readonly server: string;
  readonly holder: string;
  /** Grows with each renewal. */
  readonly until: number;
}

export interface RenewedPlacement extends PlacementRow {
  readonly renewed: boolean;
}

const UNTIL = "clock_timestamp() + make_interval(secs => ?)";
const ROW = "server, holder, (extract(epoch FROM until) * 1000)::bigint AS until";

const TAKE = `INSERT INTO metamcp_placements AS known (server, holder, until) VALUES (?, ?, ${UNTIL})
  ON CONFLICT (server) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE known.holder = excluded.holder OR known.until < clock_timestamp()
  RETURNING ${ROW}`;

/** One that has ended is not renewed: another replica may be about to take it. */
const RENEW = `WITH renewed AS (
    UPDATE metamcp_placements SET until = ${UNTIL}
    WHERE holder = ? AND until > clock_timestamp() AND server IN (SELECT jsonb_array_elements_text(?::jsonb))
    RETURNING server)
  SELECT ${ROW}, (server IN (SELECT server FROM renewed))::int AS renewed FROM metamcp_placements`;

export class PlacementTable implements Placements {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(server: string, holder: string, ms: number): Promise<PlacementRow> {
    for (;;) {
      const taken = await this.#database.query(TAKE, [server, holder, ms / 1000]);
      const found =
        taken.rows[0] ??
        (await this.#database.query(`SELECT ${ROW} FROM metamcp_placements WHERE server = ?`, [server]))
          .rows[0];
      // Without a row it was released between the two statements.
      if (found) return rowOf(found);
    }
  }

  async renew(servers: readonly string[], holder: string, ms: number): Promise<readonly RenewedPlacement[]> {
    const { rows } = await this.#database.query(RENEW, [ms / 1000, holder, JSON.stringify(servers)]);
    return rows.map((row) => ({ ...rowOf(row), renewed: row["renewed"] === 1 }));
  }

  async give(server: string, from: string, to: string, ms: number): Promise<void> {
    await this.#database.query(
      `UPDATE metamcp_placements SET holder = ?, until = ${UNTIL} WHERE server = ? AND holder = ?`,
      [to, ms / 1000, server, from],
    );
  }

  async release(server: string, holder: string): Promise<void> {
    await this.#database.query("DELETE FROM metamcp_placements WHERE server = ? AND holder = ?", [
      server,
      holder,
    ]);
  }
}

function rowOf({ server, holder, until }: SqlRow): PlacementRow {
  return { server: String(server), holder: String(holder), until: Number(until) };
}
