/** Opens the embedded database for this process alone. Leaves the file as it is where that fails. */
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, makeFolder } from "../../home/file.ts";
import type { OnStatement } from "../database.ts";
import { StoreError } from "../error.ts";
import { connect } from "./connect.ts";
import { isBusy, type SqliteConnection, sqliteFault } from "./connection.ts";
import { SqliteDatabase } from "./database.ts";

/** How long a statement waits for e.g. a copy that another program takes. Nothing else runs meanwhile. */
const BUSY_MS = 1_000;

export async function openSqlite(path: string, onStatement: OnStatement): Promise<SqliteDatabase> {
  await makeFolder(dirname(path));
  const lock = await acquireLock(`${path}.lock`, path);
  let connection: SqliteConnection | undefined;
  try {
    createPrivate(path);
    connection = await connect(path);
    const database = new SqliteDatabase(withLockOf(connection, lock), onStatement);
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // Of a new file: a batch of audit records fills dozens of pages, and each costs.
    database.run("PRAGMA page_size = 16384");
    database.run("PRAGMA journal_mode = WAL");
    // What was answered as written survives a power cut, too.
    database.run("PRAGMA synchronous = FULL");
    return database;
  } catch (error) {
    connection?.close();
    releaseLock(lock);
    throw opening(error, path);
  }
}

/**
 * A lock of the system on a file beside the database: it goes with the process, however that ends, and other programs
 * can still read the database and copy it.
 */
async function acquireLock(file: string, path: string): Promise<SqliteConnection> {
  createPrivate(file);
  const lock = await connect(file);
  try {
    lock.exec("PRAGMA journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw opening(sqliteFault(error), path);
    throw new StoreError(
      "in_use",
      `${path} is in use by another process; an embedded store allows only one (use Postgres for several)`,
      error,
    );
  }
}

/**
 * SQLite gives the files beside it the same rights. One that is there is not even opened: closing it would give up every
 * lock that this process has on it.
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw new StoreError("unavailable", `${path} cannot be written (${codeOf(error) ?? "unknown"})`, error);
  }
}

function withLockOf(connection: SqliteConnection, lock: SqliteConnection): SqliteConnection {
  return {
    prepare: (sql) => connection.prepare(sql),
    exec: (sql) => connection.exec(sql),
    close: () => {
      connection.close();
      releaseLock(lock);
    },
  };
}

/** Closing is not enough: a library may keep the file open until its statements are collected. */
function releaseLock(lock: SqliteConnection): void {
  lock.exec("ROLLBACK");
  lock.close();
}

function opening(error: unknown, path: string): unknown {
  if (StoreError.is(error, "foreign"))
    return new StoreError("foreign", `${path} is not a store: ${error.message}`);
  return StoreError.is(error) ? new StoreError(error.code, `${path}: ${error.message}`, error) : error;
}
