/**
 * The tables of the store, as numbered migrations. A released migration is never edited, because every store
 * contains its checksum. A program refuses a store with more migrations than it knows, so what the version
 * before can live with is no migration but an addition. Both databases compare texts by their bytes.
 */
import type { SqlDialect } from "./database.ts";

export type Migration = (dialect: SqlDialect) => readonly string[];

export const MIGRATIONS: readonly Migration[] = [
  (dialect) => {
    const text = dialect === "postgres" ? 'TEXT COLLATE "C"' : "TEXT";
    const number = dialect === "postgres" ? "BIGINT" : "INTEGER";
    return [
      `CREATE TABLE metamcp_meta (name ${text} PRIMARY KEY, value TEXT NOT NULL)`,

      // "about" is JSON with who and summary.
      `CREATE TABLE metamcp_revisions (n ${number} PRIMARY KEY, at ${number} NOT NULL, about TEXT NOT NULL)`,

      // Each row is one version of an object: current from revision "since" until before revision "until".
      `CREATE TABLE metamcp_objects (
        uuid ${text} NOT NULL, since ${number} NOT NULL, until ${number},
        kind ${text} NOT NULL, name TEXT NOT NULL, name_key ${text} NOT NULL, spec TEXT NOT NULL,
        managed_by TEXT NOT NULL, taken_from TEXT,
        created_at ${number} NOT NULL, updated_at ${number} NOT NULL,
        PRIMARY KEY (uuid, since))`,
      "CREATE UNIQUE INDEX metamcp_objects_name ON metamcp_objects (kind, name_key) WHERE until IS NULL",

      // "version" increases with each write to records of the kind, and is the version of the written
      // records.
      `CREATE TABLE metamcp_record_kinds (kind ${text} PRIMARY KEY, version ${number} NOT NULL)`,
      `CREATE TABLE metamcp_records (
        kind ${text} NOT NULL, id ${text} NOT NULL, value TEXT NOT NULL, version ${number} NOT NULL,
        unique_key ${text}, expires_at ${number},
        PRIMARY KEY (kind, id))`,
      "CREATE UNIQUE INDEX metamcp_records_key ON metamcp_records (kind, unique_key)",
      "CREATE INDEX metamcp_records_expiry ON metamcp_records (expires_at) WHERE expires_at IS NOT NULL",

      // Each row is a batch of records with numbers "first" to "seq" and times "since" to "until". For
      // "lines" see audit-chain.ts.
      `CREATE TABLE metamcp_audit (
        first ${number} PRIMARY KEY, seq ${number} NOT NULL, since ${number} NOT NULL, until ${number} NOT NULL,
        hash TEXT NOT NULL, seal TEXT NOT NULL, lines TEXT NOT NULL)`,
    ];
  },
  // Changes no table. Older programs refuse the store: they cannot read a root secret that says that the
  // audit log has an end mark (see unlock.ts).
  () => [],
];

/**
 * Tables and columns that an older program neither needs nor touches, so that it runs beside a newer one
 * during an update. New ones are added at the end; the store knows how many it has. Each statement can be
 * repeated.
 */
export const ADDITIONS: readonly Migration[] = [
  // Gateways that share a Postgres store. An embedded store has one process.
  (dialect) => {
    if (dialect !== "postgres") return [];
    const text = 'TEXT COLLATE "C"';
    return [
      // Times are those of the database, because the clocks of machines differ. "about" is JSON for people.
      `CREATE TABLE IF NOT EXISTS metamcp_replicas (
        id ${text} PRIMARY KEY, address TEXT, public_url TEXT, version TEXT NOT NULL, state TEXT NOT NULL,
        since TIMESTAMPTZ NOT NULL, seen TIMESTAMPTZ NOT NULL, about TEXT NOT NULL)`,

      // Only sessions that moved to another replica, ended, or have "kept": what a client set in them, as
      // JSON.
      `CREATE TABLE IF NOT EXISTS metamcp_sessions (
        id ${text} PRIMARY KEY, owner ${text} NOT NULL, ended INTEGER NOT NULL DEFAULT 0, kept TEXT,
        at TIMESTAMPTZ NOT NULL)`,
      "CREATE INDEX IF NOT EXISTS metamcp_sessions_at ON metamcp_sessions (at)",

      // Which replica runs a server that may run only once, and how long it may.
      `CREATE TABLE IF NOT EXISTS metamcp_placements (
        server ${text} PRIMARY KEY, holder ${text} NOT NULL, until TIMESTAMPTZ NOT NULL)`,

      // What clients said at initialize, once for all sessions of clients that said the same.
      `CREATE TABLE IF NOT EXISTS metamcp_clients (digest ${text} PRIMARY KEY, said TEXT NOT NULL, at TIMESTAMPTZ NOT NULL)`,

      // What callers read, for rules that keep data apart. Callers and rules are hashes.
      `CREATE TABLE IF NOT EXISTS metamcp_reads (
        caller ${text} NOT NULL, rule ${text} NOT NULL, what TEXT NOT NULL, until TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (caller, rule))`,
      "CREATE INDEX IF NOT EXISTS metamcp_reads_until ON metamcp_reads (until)",
      `CREATE TABLE IF NOT EXISTS metamcp_places (
        id ${text} PRIMARY KEY, held JSONB NOT NULL, granted INTEGER NOT NULL, others INTEGER NOT NULL,
        wanted_by TEXT, wanted DOUBLE PRECISION NOT NULL)`,
      // Limits of all replicas, see limits.ts. "earned" is in milliseconds since 1970.
      `CREATE TABLE IF NOT EXISTS metamcp_rates (
        id ${text} PRIMARY KEY, earned DOUBLE PRECISION NOT NULL, lent BOOLEAN NOT NULL,
        granted DOUBLE PRECISION NOT NULL)`,

      // How often something was tried, for throttles: the times of tries in microseconds since 1970, oldest
      // first.
      `CREATE TABLE IF NOT EXISTS metamcp_tries (
        counter ${text} PRIMARY KEY, at BIGINT[] NOT NULL, until TIMESTAMPTZ NOT NULL)`,
      "CREATE INDEX IF NOT EXISTS metamcp_tries_until ON metamcp_tries (until)",
    ];
  },
  // Sums of calls, see sum-rows.ts.
  (dialect) => {
    const postgres = dialect === "postgres";
    const text = postgres ? 'TEXT COLLATE "C"' : "TEXT";
    const number = postgres ? "BIGINT" : "INTEGER";
    // Without it, SQLite would keep each row twice: by number, and in the index of its key.
    const end = postgres ? "" : " WITHOUT ROWID";
    const now = postgres
      ? "(extract(epoch FROM clock_timestamp())::bigint * 1000)::text"
      : "CAST(strftime('%s', 'now') * 1000 AS TEXT)";
    return [
      // "about" is JSON: who called what. "seen" is when it was last named.
      `CREATE TABLE IF NOT EXISTS metamcp_sum_groups (
        id ${text} PRIMARY KEY, about TEXT NOT NULL, seen ${number} NOT NULL)${end}`,
      `CREATE TABLE IF NOT EXISTS metamcp_sums (
        per ${text} NOT NULL, at ${number} NOT NULL, of_group ${text} NOT NULL,
        calls ${number} NOT NULL, errors ${number} NOT NULL, refused ${number} NOT NULL,
        request_bytes ${number} NOT NULL, result_bytes ${number} NOT NULL,
        tokens_full ${number} NOT NULL, tokens_shown ${number} NOT NULL, last ${number} NOT NULL,
        PRIMARY KEY (per, at, of_group))${end}`,
      `CREATE TABLE IF NOT EXISTS metamcp_sum_durations (
        per ${text} NOT NULL, at ${number} NOT NULL, of_group ${text} NOT NULL, bucket ${number} NOT NULL,
        calls ${number} NOT NULL, PRIMARY KEY (per, at, of_group, bucket))${end}`,
      // The last batch of each process that writes sums.
      `CREATE TABLE IF NOT EXISTS metamcp_sum_batches (
        writer ${text} PRIMARY KEY, n ${number} NOT NULL, at ${number} NOT NULL)${end}`,
      // What was before this is not counted.
      `INSERT INTO metamcp_meta (name, value) VALUES ('sums since', ${now}) ON CONFLICT (name) DO NOTHING`,
    ];
  },
];
