/**
 * The tables of the store, as numbered migrations. A released migration is never edited, because every store contains its
 * checksum. Both databases compare texts by their bytes.
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

      // "version" increases with each write to records of the kind, and is the version of the written records.
      `CREATE TABLE metamcp_record_kinds (kind ${text} PRIMARY KEY, version ${number} NOT NULL)`,
      `CREATE TABLE metamcp_records (
        kind ${text} NOT NULL, id ${text} NOT NULL, value TEXT NOT NULL, version ${number} NOT NULL,
        unique_key ${text}, expires_at ${number},
        PRIMARY KEY (kind, id))`,
      "CREATE UNIQUE INDEX metamcp_records_key ON metamcp_records (kind, unique_key)",
      "CREATE INDEX metamcp_records_expiry ON metamcp_records (expires_at) WHERE expires_at IS NOT NULL",

      // Each row is a batch of records with numbers "first" to "seq" and times "since" to "until". For "lines" see audit-chain.ts.
      `CREATE TABLE metamcp_audit (
        first ${number} PRIMARY KEY, seq ${number} NOT NULL, since ${number} NOT NULL, until ${number} NOT NULL,
        hash TEXT NOT NULL, seal TEXT NOT NULL, lines TEXT NOT NULL)`,
    ];
  },
  // Changes no table. Older programs refuse the store: they cannot read a root secret that says that the audit log has an
  // end mark (see unlock.ts).
  () => [],
];
