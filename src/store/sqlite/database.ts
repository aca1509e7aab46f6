/** The embedded database: one file, one connection, one statement at a time. */
import type { Database, OnStatement, Query, SqlResult, SqlRow, SqlValue } from "../database.ts";
import { StoreError } from "../error.ts";
import { type SqliteConnection, type Statement, sqliteFault } from "./connection.ts";

/** Statements differ by their number of rows, too; few are used again and again. */
const KEPT_STATEMENTS = 50;

export class SqliteDatabase implements Database {
  readonly dialect = "sqlite";
  readonly #connection: SqliteConnection;
  readonly #onStatement: OnStatement;
  readonly #kept = new Map<string, Statement>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(connection: SqliteConnection, onStatement: OnStatement) {
    this.#connection = connection;
    this.#onStatement = onStatement;
  }

  readonly query: Query = (sql, values) => this.#alone(() => this.run(sql, values));

  async transaction<T>(run: (query: Query) => Promise<T>): Promise<T> {
    return await this.#alone(async () => {
      this.#exec("BEGIN IMMEDIATE");
      try {
        const result = await run(async (sql, values) => this.run(sql, values));
        this.#exec("COMMIT");
        return result;
      } catch (error) {
        // SQLite may have done it itself, e.g. on a full disk.
        this.#quietly("ROLLBACK");
        throw error;
      }
    });
  }

  /** At once, without waiting for a turn: while opening, and inside a transaction. */
  run(sql: string, values: readonly SqlValue[] = []): SqlResult {
    this.#onStatement(sql);
    try {
      const statement = this.#prepared(sql);
      if (!/^(SELECT|PRAGMA)|\bRETURNING\b/.test(sql)) return { rows: [], count: statement.run(values) };
      const rows = statement.all(values) as readonly SqlRow[];
      return { rows, count: rows.length };
    } catch (error) {
      this.#kept.delete(sql);
      throw sqliteFault(error);
    }
  }

  async close(): Promise<void> {
    await this.#alone(() => {
      this.#closed = true;
      // Who copies the file of a store that was closed has everything.
      this.#quietly("PRAGMA wal_checkpoint(TRUNCATE)");
      this.#kept.clear();
      this.#connection.close();
    });
  }

  /** Between the statements of one transaction no other may run: there is one connection. */
  async #alone<T>(run: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#closed) throw new StoreError("unavailable", "the store is closed");
      return run();
    });
    this.#last = turn.catch(() => {});
    return await turn;
  }

  #prepared(sql: string): Statement {
    const statement = this.#kept.get(sql) ?? this.#connection.prepare(sql);
    this.#kept.delete(sql);
    this.#kept.set(sql, statement);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_STATEMENTS) break;
      this.#kept.delete(oldest);
    }
    return statement;
  }

  #exec(sql: string): void {
    this.#onStatement(sql);
    try {
      this.#connection.exec(sql);
    } catch (error) {
      throw sqliteFault(error);
    }
  }

  #quietly(sql: string): void {
    try {
      this.#exec(sql);
    } catch {}
  }
}
