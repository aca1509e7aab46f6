/** SQLite by the package `libsql`, for runtimes that bring none. It is optional: not every platform has it. */
import { StoreError } from "../error.ts";
import type { SqliteConnection } from "./connection.ts";

/** The part of `libsql` that is used. Values go in as one array: it takes a single null for a missing one. */
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
 * A prepared statement that finds the file locked is never reset by this package, and no transaction can end until it is
 * collected. So the lock is taken first, by `exec`, which leaves nothing behind.
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
