/** The tables of replicas and their sessions. Only Postgres has them. All times are those of the database. */
import type { Database, Query, SqlRow } from "./database.ts";
import type { Feed } from "./feed.ts";
import { FREE_PLACES } from "./limits.ts";
import { NEXT_VERSION } from "./records.ts";
import { type NewReplica, REPLICAS, type ReplicaRow, type Replicas, type SessionRow } from "./replicas.ts";

const MS = "extract(epoch FROM clock_timestamp() - $) * 1000";
const ROWS = `SELECT id, address, public_url, version, state, about,
  (${MS.replace("$", "since")})::bigint AS since_ms, (${MS.replace("$", "seen")})::bigint AS silent_ms
  FROM metamcp_replicas`;

/** One statement both notes the beat and reads the rows, so that an idle replica sends few. */
const BEAT = `WITH beat AS (
    UPDATE metamcp_replicas SET seen = clock_timestamp(), about = ? WHERE id = ?) ${ROWS}`;

const JOIN = `INSERT INTO metamcp_replicas (id, address, public_url, version, state, since, seen, about)
  VALUES (?, ?, ?, ?, 'serving', clock_timestamp(), clock_timestamp(), '{}')
  ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`;

const TAKE_UP = `INSERT INTO metamcp_sessions AS known (id, owner, at)
  SELECT ?, ?, clock_timestamp()
  WHERE NOT EXISTS (SELECT 1 FROM metamcp_replicas WHERE id = ? AND state = 'serving')
  ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, at = excluded.at
  WHERE known.owner = ? AND known.ended = 0
  RETURNING owner, ended, kept`;

/**
 * Joins wait for take-ups and the other way round, so that a replica that joins again learns of every session
 * it has lost.
 */
const LOCK = "replicas";
const SHARED_LOCK = "SELECT pg_advisory_xact_lock_shared(hashtext(current_schema()), hashtext(?))";

const SESSION = "SELECT owner, ended, kept FROM metamcp_sessions WHERE id = ?";
/** A JSON array as rows. */
const GIVEN = "SELECT jsonb_array_elements_text(?::jsonb)";

const olderThan = (days: number): string => `at < clock_timestamp() - interval '${days} days'`;
/** Rows of ended sessions, and of sessions whose replica is gone. */
const OLD_SESSION = olderThan(7);
/** Texts of clients that nobody stored again. A session may need its text as long as it lives. */
const OLD_CLIENT = olderThan(30);

export class ReplicaTable implements Replicas {
  readonly #database: Database;
  readonly #feed: Pick<Feed, "records">;

  constructor(database: Database, feed: Pick<Feed, "records">) {
    this.#database = database;
    this.#feed = feed;
  }

  async join(
    { id, address, publicUrl, version }: NewReplica,
    check: (others: readonly ReplicaRow[]) => void = () => {},
  ): Promise<void> {
    await this.#changing(async (query) => {
      const { rows } = await query(ROWS);
      check(rows.map(replicaOf).filter((other) => other.id !== id));
      await query(JOIN, [id, address ?? null, publicUrl ?? null, version]);
    });
  }

  async beat(id: string, about: unknown): Promise<readonly ReplicaRow[]> {
    const { rows } = await this.#database.query(BEAT, [JSON.stringify(about), id]);
    return rows.map(replicaOf);
  }

  async drain(id: string): Promise<void> {
    await this.#changing((query) =>
      query("UPDATE metamcp_replicas SET state = 'draining' WHERE id = ?", [id]),
    );
  }

  async leave(id: string): Promise<void> {
    await this.#changing(async (query) => {
      await query("DELETE FROM metamcp_replicas WHERE id = ?", [id]);
      await query(FREE_PLACES, [id, id]);
    });
  }

  async remove(id: string, silentMs: number): Promise<boolean> {
    return await this.#changing(async (query) => {
      await query(
        "DELETE FROM metamcp_replicas WHERE id = ? AND seen < clock_timestamp() - make_interval(secs => ?)",
        [id, silentMs / 1000],
      );
      const removed = (await query("SELECT 1 FROM metamcp_replicas WHERE id = ?", [id])).rows.length === 0;
      if (removed) await query(FREE_PLACES, [id, id]);
      return removed;
    });
  }

  async takeUp(session: string, from: string, by: string): Promise<SessionRow | undefined> {
    return await this.#database.transaction(async (query) => {
      await query(SHARED_LOCK, [LOCK]);
      const { rows } = await query(TAKE_UP, [session, by, from, from]);
      const [row] = rows.length > 0 ? rows : (await query(SESSION, [session])).rows;
      const now = row && sessionOf(row);
      return now && (now.ended || now.owner !== from) ? now : undefined;
    });
  }

  async session(id: string): Promise<SessionRow | undefined> {
    const [row] = (await this.#database.query(SESSION, [id])).rows;
    return row && sessionOf(row);
  }

  async lost(sessions: readonly string[], owner: string): Promise<readonly string[]> {
    const { rows } = await this.#database.query(
      `SELECT id FROM metamcp_sessions WHERE id IN (${GIVEN}) AND (owner <> ? OR ended = 1)`,
      [JSON.stringify(sessions), owner],
    );
    return rows.map(({ id }) => String(id));
  }

  async keep(session: string, owner: string, kept: unknown): Promise<void> {
    await this.#database.query(
      `INSERT INTO metamcp_sessions AS known (id, owner, kept, at) VALUES (?, ?, ?, clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET kept = excluded.kept, at = excluded.at
       WHERE known.owner = excluded.owner AND known.ended = 0`,
      [session, owner, JSON.stringify(kept)],
    );
  }

  async end(sessions: readonly string[], owner: string): Promise<void> {
    await this.#database.query(
      `INSERT INTO metamcp_sessions AS known (id, owner, ended, at)
       SELECT given, ?, 1, clock_timestamp() FROM jsonb_array_elements_text(?::jsonb) AS given
       ON CONFLICT (id) DO UPDATE SET ended = 1, kept = NULL, at = excluded.at WHERE known.owner = excluded.owner`,
      [owner, JSON.stringify(sessions)],
    );
  }

  async putSaid(digest: string, said: string): Promise<void> {
    await this.#database.query(
      `INSERT INTO metamcp_clients (digest, said, at) VALUES (?, ?, clock_timestamp())
       ON CONFLICT (digest) DO UPDATE SET at = excluded.at`,
      [digest, said],
    );
  }

  async said(digest: string): Promise<string | undefined> {
    const { rows } = await this.#database.query("SELECT said FROM metamcp_clients WHERE digest = ?", [
      digest,
    ]);
    return rows[0] && String(rows[0]["said"]);
  }

  async sweep(): Promise<void> {
    await this.#database.query(`DELETE FROM metamcp_clients WHERE ${OLD_CLIENT}`);
    await this.#database.query(
      `DELETE FROM metamcp_sessions WHERE ${OLD_SESSION} AND (ended = 1 OR owner NOT IN (SELECT id FROM metamcp_replicas))`,
    );
  }

  /** Changes rows of replicas, and tells all processes. */
  async #changing<T>(run: (query: Query) => Promise<T>): Promise<T> {
    const { result, version } = await this.#database.transaction(
      async (query) => {
        const result = await run(query);
        const { rows } = await query(NEXT_VERSION, [REPLICAS]);
        return { result, version: Number(rows[0]?.["version"]) };
      },
      { lock: LOCK, notify: true },
    );
    this.#feed.records(REPLICAS, version);
    return result;
  }
}

function replicaOf({
  id,
  address,
  public_url,
  version,
  state,
  since_ms,
  silent_ms,
  about,
}: SqlRow): ReplicaRow {
  return {
    id: String(id),
    address: address === null ? undefined : String(address),
    publicUrl: public_url === null ? undefined : String(public_url),
    version: String(version),
    state: state === "draining" ? "draining" : "serving",
    sinceMs: Number(since_ms),
    silentMs: Number(silent_ms),
    about: JSON.parse(String(about)),
  };
}

function sessionOf({ owner, ended, kept }: SqlRow): SessionRow {
  return {
    owner: String(owner),
    ended: ended !== 0,
    kept: kept === null ? undefined : JSON.parse(String(kept)),
  };
}
