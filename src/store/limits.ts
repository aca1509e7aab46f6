/**
 * The tables with what limits of all replicas have counted. Only Postgres has them. Each method sends one
 * statement, which locks one row.
 */
import type { Database } from "./database.ts";

/**
 * What limits of all replicas have counted, by id of the limit and its key. Times are those of the database.
 */
export interface LimitRows {
  /** Takes tokens from a count of calls per time, as many as it has. */
  takeTokens(id: string, asked: AskedTokens): Promise<TakenTokens>;
  /** Gives tokens back that were not used. Those that are earned again by now stay away. */
  giveTokensBack(id: string, back: TokensBack): Promise<void>;
  /** Counts calls that passed without a token while the database was away, also beyond the burst. */
  countTokens(id: string, passed: Pick<TokensBack, "count" | "intervalMs">): Promise<void>;
  /**
   * Says how many places a replica has, and takes more, as many as are free. Undefined if the replica is not
   * listed: its places are gone then.
   */
  holdPlaces(id: string, asked: AskedPlaces): Promise<HeldPlaces | undefined>;
  /** Deletes rows that say nothing any more. */
  sweep(): Promise<void>;
}

export interface AskedPlaces {
  readonly replica: string;
  /** For all replicas together. */
  readonly most: number;
  readonly have: number;
  readonly want: number;
}

export interface HeldPlaces {
  readonly granted: number;
  /** How many the other replicas have. */
  readonly others: number;
  /** Another replica has just asked for more than there were. */
  readonly wanted: boolean;
}

export interface AskedTokens {
  readonly burst: number;
  readonly intervalMs: number;
  /** So many are used at once. */
  readonly want: number;
  /** So many more may be used within `holdMs`. They are given only if the count is far from used up. */
  readonly ahead: number;
  readonly holdMs: number;
}

export interface TakenTokens {
  readonly granted: number;
  /** When all tokens that were taken so far are earned again, for `giveTokensBack`. */
  readonly earned: number;
  /** How long until there is one more. */
  readonly waitMs: number;
}

export interface TokensBack {
  readonly count: number;
  readonly intervalMs: number;
  readonly earned: number;
}

/** The largest `int` of the database. */
const MAX_INT = 2 ** 31 - 1;
const NOW = "extract(epoch FROM clock_timestamp())::float8 * 1000";

/**
 * GCRA for several calls at once: `earned` is the time at which all counted calls are earned again. Tokens
 * that a replica uses only later are counted too early: a call could then come in addition to those that were
 * earned since. So a row that has lent tokens has a burst that is smaller by what is earned while they may be
 * held, until it was full for that long.
 */
const granted = (earned: string, lent: string): string => `(
  SELECT since + (used + more) * gap AS earned, lent OR more > 0 AS lent, used + more AS granted
  FROM (SELECT asked.*, now, greatest(${earned}, now) AS since, ${lent} AND ${earned} + hold > now AS lent
        FROM asked, (SELECT ${NOW} AS now) AS clock) AS counted,
    LATERAL (SELECT burst - (since - now + CASE WHEN lent THEN hold ELSE 0 END) / gap + 1e-6 AS free) AS f,
    LATERAL (SELECT greatest(0, least(want, floor(free))) AS used) AS u,
    LATERAL (SELECT CASE WHEN free - used - ahead >= burst / 2 THEN ahead ELSE 0 END AS more) AS m)`;

const TAKE = `WITH asked AS (SELECT ?::text AS id, ?::float8 AS want, ?::float8 AS ahead, ?::float8 AS gap,
    ?::float8 AS burst, ?::float8 AS hold)
  INSERT INTO metamcp_rates AS rate (id, earned, lent, granted)
  SELECT asked.id, fresh.* FROM asked, LATERAL ${granted("0::float8", "false")} AS fresh
  ON CONFLICT (id) DO UPDATE SET (earned, lent, granted) = ${granted("rate.earned", "rate.lent")}
  RETURNING granted, earned, (
    SELECT greatest(0, rate.earned - ${NOW} - (burst - 1) * gap + CASE WHEN rate.lent THEN hold ELSE 0 END)
    FROM asked) AS wait_ms`;

/**
 * What is earned again since it was taken must not come back, or somebody could get it twice: only the time
 * that is still to come is taken off.
 */
const GIVE_BACK = `UPDATE metamcp_rates SET earned = earned - least(?::float8, ?::float8 - ${NOW})
  WHERE id = ? AND ?::float8 > ${NOW}`;

const COUNT = `INSERT INTO metamcp_rates AS rate (id, earned, lent, granted) VALUES (?, ${NOW} + ?::float8, false, 0)
  ON CONFLICT (id) DO UPDATE SET earned = greatest(rate.earned, ${NOW}) + ?::float8`;

/** So long a replica that got too few places counts as one that waits. */
const WANTED_MS = 300;

/** `held` has the number of places of each replica. */
const placed = (held: string, by: string, at: string): string => `(
  SELECT jsonb_strip_nulls(${held} || jsonb_build_object(replica, nullif(have + given, 0))) AS held,
    given AS granted, others,
    CASE WHEN given < want THEN replica WHEN want > 0 AND ${by} = replica THEN NULL ELSE ${by} END AS wanted_by,
    CASE WHEN given < want THEN ${NOW} ELSE ${at} END AS wanted
  FROM asked,
    LATERAL (SELECT coalesce(sum(value::int), 0)::int AS others
             FROM jsonb_each_text(${held}) WHERE key <> asked.replica) AS o,
    LATERAL (SELECT greatest(0, least(want, most - others - have)) AS given) AS g)`;

/** Locks the row of the replica, so that places of one that is being removed are not counted for ever. */
const HOLD = `WITH asked AS (SELECT ?::text AS id, ?::text AS replica, ?::int AS most, ?::int AS have, ?::int AS want),
    listed AS (SELECT 1 FROM metamcp_replicas, asked
               WHERE metamcp_replicas.id = asked.replica FOR KEY SHARE OF metamcp_replicas)
  INSERT INTO metamcp_places AS place (id, held, granted, others, wanted_by, wanted)
  SELECT asked.id, fresh.* FROM listed, asked,
    LATERAL ${placed("'{}'::jsonb", "NULL::text", "0::float8")} AS fresh
  ON CONFLICT (id) DO UPDATE SET (held, granted, others, wanted_by, wanted) =
    ${placed("place.held", "place.wanted_by", "place.wanted")}
  RETURNING granted, others,
    CASE WHEN wanted_by <> (SELECT replica FROM asked) AND wanted > ${NOW} - ${WANTED_MS} THEN 1 ELSE 0 END AS wanted`;

/** For the transaction that removes a replica, after its row is deleted. */
export const FREE_PLACES =
  "UPDATE metamcp_places SET held = held - ?::text WHERE jsonb_exists(held, ?::text)";

export class LimitTable implements LimitRows {
  readonly #database: Pick<Database, "query">;

  constructor(database: Pick<Database, "query">) {
    this.#database = database;
  }

  async takeTokens(id: string, asked: AskedTokens): Promise<TakenTokens> {
    const { want, ahead, intervalMs, burst, holdMs } = asked;
    const { rows } = await this.#database.query(TAKE, [id, want, ahead, intervalMs, burst, holdMs]);
    const [row] = rows;
    return {
      granted: Number(row?.["granted"]),
      earned: Number(row?.["earned"]),
      waitMs: Number(row?.["wait_ms"]),
    };
  }

  async giveTokensBack(id: string, { count, intervalMs, earned }: TokensBack): Promise<void> {
    await this.#database.query(GIVE_BACK, [count * intervalMs, earned, id, earned]);
  }

  async countTokens(
    id: string,
    { count, intervalMs }: Pick<TokensBack, "count" | "intervalMs">,
  ): Promise<void> {
    const ms = count * intervalMs;
    await this.#database.query(COUNT, [id, ms, ms]);
  }

  async holdPlaces(id: string, asked: AskedPlaces): Promise<HeldPlaces | undefined> {
    const { replica, most, have, want } = asked;
    const limit = Math.min(most, MAX_INT);
    const { rows } = await this.#database.query(HOLD, [id, replica, limit, have, want]);
    const [row] = rows;
    return (
      row && {
        granted: Number(row["granted"]),
        others: Number(row["others"]),
        wanted: row["wanted"] === 1,
      }
    );
  }

  async sweep(): Promise<void> {
    await this.#database.query("DELETE FROM metamcp_places WHERE held = '{}'::jsonb");
    // A count whose calls are all earned again is as good as none. Lent tokens are held for less than a
    // second.
    await this.#database.query(`DELETE FROM metamcp_rates WHERE earned < ${NOW} - 1000`);
  }
}
