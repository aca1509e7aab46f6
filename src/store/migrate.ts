/**
 * Migrates the tables of a store to the version of this program. Forward only. If that is not possible it
 * rejects and changes nothing.
 */
import { createHash } from "node:crypto";
import type { Database, Query, SqlDialect } from "./database.ts";
import { StoreError } from "./error.ts";
import { ADDITIONS, MIGRATIONS, type Migration } from "./migrations.ts";

export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  readonly additions?: readonly Migration[];
  readonly now: () => number;
  /** Runs before the first change to a store that has data. */
  readonly copy?: (version: number) => Promise<void>;
}

/** Returns a row if the table exists. */
const TABLE_EXISTS: Readonly<Record<SqlDialect, string>> = {
  sqlite: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
  postgres: "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
};

const TABLE =
  "CREATE TABLE metamcp_migrations (n INTEGER PRIMARY KEY, checksum TEXT NOT NULL, at BIGINT NOT NULL)";

const ADDED = "additions";
const PUT_ADDED = `INSERT INTO metamcp_meta (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

export async function migrate(database: Database, options: MigrateOptions): Promise<void> {
  const { additions = ADDITIONS } = options;
  await migrateTables(database, options);
  if ((await addedTo(database.query)) >= additions.length) return;
  await database.transaction(
    async (query) => {
      const done = await addedTo(query);
      for (const addition of additions.slice(done))
        for (const statement of addition(database.dialect)) await query(statement);
      if (done < additions.length) await query(PUT_ADDED, [ADDED, String(additions.length)]);
    },
    { lock: "migrate" },
  );
}

/** The number of additions that the store has. A newer program may have made more than this one knows. */
async function addedTo(query: Query): Promise<number> {
  const { rows } = await query("SELECT value FROM metamcp_meta WHERE name = ?", [ADDED]);
  return Number(rows[0]?.["value"] ?? 0);
}

async function migrateTables(database: Database, options: MigrateOptions): Promise<void> {
  const { migrations = MIGRATIONS, copy, now } = options;
  const version = await versionOf(database, migrations);
  if (version === migrations.length) return;
  if (version > 0) await copy?.(version);
  await database.transaction(
    async (query) => {
      // Another process may have migrated in the meantime.
      const done = await check(query, database.dialect, migrations);
      if (done === 0 && !(await hasTable(query, database.dialect, "metamcp_migrations"))) await query(TABLE);
      for (const [at, migration] of migrations.entries())
        if (at >= done) await apply(query, at + 1, migration(database.dialect), now());
    },
    { lock: "migrate" },
  );
}

/** The number of applied migrations. Rejects if they differ from those of this program. */
export async function versionOf(database: Database, migrations = MIGRATIONS): Promise<number> {
  return await check(database.query, database.dialect, migrations);
}

async function check(query: Query, dialect: SqlDialect, migrations: readonly Migration[]): Promise<number> {
  if (!(await hasTable(query, dialect, "metamcp_migrations"))) return 0;
  const { rows } = await query("SELECT n, checksum FROM metamcp_migrations ORDER BY n");
  if (rows.length > migrations.length)
    throw new StoreError(
      "newer",
      `the store has version ${rows.length}, but this program supports only ${migrations.length}; upgrade MetaMCP, or restore an older copy of the store`,
    );
  for (const [at, { n, checksum }] of rows.entries()) {
    const migration = migrations[at] as Migration;
    if (n !== at + 1 || checksum !== checksumOf(migration(dialect)))
      throw new StoreError(
        "foreign",
        `migration ${at + 1} of this store is different from the one in this program: a development version between releases made the store. Open it with that version, run "metamcp gateway export", and apply the document to an empty store of this one (docs/gateway.md, Upgrade)`,
      );
  }
  return rows.length;
}

async function apply(query: Query, n: number, statements: readonly string[], now: number): Promise<void> {
  for (const statement of statements) await query(statement);
  await query("INSERT INTO metamcp_migrations (n, checksum, at) VALUES (?, ?, ?)", [
    n,
    checksumOf(statements),
    now,
  ]);
}

async function hasTable(query: Query, dialect: SqlDialect, name: string): Promise<boolean> {
  return (await query(TABLE_EXISTS[dialect], [name])).rows.length > 0;
}

function checksumOf(statements: readonly string[]): string {
  return createHash("sha256").update(statements.join(";\n")).digest("hex");
}
