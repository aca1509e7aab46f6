/**
 * SQLite by the package `libsql`, for runtimes without SQLite. The package is optional, because not every
 * platform has it.
 */
import { StoreError } from "../error.ts";
import type { SqliteConnection } from "./connection.ts";

/**
 * The used part of `libsql`. Values are passed as one array, because a single null would count as a missing
 * value.
 */
interface LibsqlDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): {
    all(values: readonly unknown[]): unknown[];
    run(values: readonly unknown[]): { changes: number };
  };
  exec(sql: string): void;
  close(): void;
}

interface Libsql {
  readonly default: new (path: string) => LibsqlDatabase;
}

export async function openLibsql(path: string): Promise<SqliteConnection> {
  const { default: Libsql } = await load();
  const database = new Libsql(path);
  return {
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        all: (values) => statement.all(values),
        run: (values) => withLock(database, sql, () => statement.run(values).changes),
      };
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  };
}

/**
 * If a prepared statement finds the file locked, this package never resets it, and no transaction can end
 * until the statement is garbage collected. Therefore `exec` takes the lock first, because it has no such
 * statement.
 */
function withLock<T>(database: LibsqlDatabase, sql: string, run: () => T): T {
  if (database.inTransaction || !/^(INSERT|UPDATE|DELETE)/.test(sql)) return run();
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = run();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

async function load(): Promise<Libsql> {
  try {
    return (await import("libsql")) as unknown as Libsql;
  } catch (error) {
    throw new StoreError(
      "no_driver",
      "an embedded store needs Node 22.13 or later, or the package libsql; a Postgres store needs neither",
      error,
    );
  }
}
