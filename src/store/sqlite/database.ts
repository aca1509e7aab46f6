/** The embedded database: one file, one connection, one statement at a time. */
import { Sequencer } from "../../kernel/sequencer.ts";
import type { Database, OnStatement, Query, SqlResult, SqlRow, SqlValue } from "../database.ts";
import { StoreError } from "../error.ts";
import { type SqliteConnection, type Statement, sqliteFault } from "./connection.ts";

/**
 * Prepared statements to cache. Statements also differ by their number of rows, and only few are used often.
 */
const MAX_CACHED = 50;

export class SqliteDatabase implements Database {
  readonly dialect = "sqlite";
  readonly #connection: SqliteConnection;
  readonly #onStatement: OnStatement;
  readonly #statements = new Map<string, Statement>();
  readonly #queue = new Sequencer();
  #closed = false;

  constructor(connection: SqliteConnection, onStatement: OnStatement) {
    this.#connection = connection;
    this.#onStatement = onStatement;
  }

  readonly query: Query = (sql, values) => this.#queued(() => this.run(sql, values));

  async transaction<T>(run: (query: Query) => Promise<T>): Promise<T> {
    return await this.#queued(async () => {
      this.#exec("BEGIN IMMEDIATE");
      try {
        const result = await run(async (sql, values) => this.run(sql, values));
        this.#exec("COMMIT");
        return result;
      } catch (error) {
        // SQLite may already have rolled back, e.g. on a full disk.
        this.#quietly("ROLLBACK");
        throw error;
      }
    });
  }

  /** Runs immediately, without waiting in the queue: for opening, and inside a transaction. */
  run(sql: string, values: readonly SqlValue[] = []): SqlResult {
    this.#onStatement(sql);
    try {
      const statement = this.#prepared(sql);
      if (!/^(SELECT|PRAGMA)|\bRETURNING\b/.test(sql)) return { rows: [], count: statement.run(values) };
      const rows = statement.all(values) as readonly SqlRow[];
      return { rows, count: rows.length };
    } catch (error) {
      this.#statements.delete(sql);
      throw sqliteFault(error);
    }
  }

  async close(): Promise<void> {
    await this.#queued(() => {
      this.#closed = true;
      // Moves everything into the main file, so that a copy of it is complete.
      this.#quietly("PRAGMA wal_checkpoint(TRUNCATE)");
      this.#statements.clear();
      this.#connection.close();
    });
  }

  /** Queues the work, because there is one connection and no other statement may run inside a transaction. */
  async #queued<T>(run: () => T | Promise<T>): Promise<T> {
    return await this.#queue.run(() => {
      if (this.#closed) throw new StoreError("unavailable", "the store is closed");
      return run();
    });
  }

  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#connection.prepare(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    for (const oldest of this.#statements.keys()) {
      if (this.#statements.size <= MAX_CACHED) break;
      this.#statements.delete(oldest);
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
