/** Opens the embedded database for this process only. If that fails, the file is unchanged. */
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, makeFolder } from "../../home/file.ts";
import type { OnStatement } from "../database.ts";
import { StoreError } from "../error.ts";
import { connect } from "./connect.ts";
import { isBusy, type SqliteConnection, sqliteFault } from "./connection.ts";
import { SqliteDatabase } from "./database.ts";
import { LEAST_FREE, spaceOf } from "./space.ts";

/**
 * How long a statement waits for another program, e.g. one that copies the file. Nothing else runs in this
 * time.
 */
const BUSY_MS = 1_000;

export async function openSqlite(path: string, onStatement: OnStatement): Promise<SqliteDatabase> {
  await makeFolder(dirname(path));
  const lock = await acquireLock(`${path}.lock`, path);
  let connection: SqliteConnection | undefined;
  try {
    createPrivate(path);
    connection = await connect(path);
    const database = new SqliteDatabase(withLock(connection, lock), onStatement);
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // Takes effect only in a new file. A batch of audit records fills dozens of small pages, and each page
    // costs.
    database.run("PRAGMA page_size = 16384");
    // Lets `reclaim` give space back in steps. Also takes effect only in a new file, or by VACUUM.
    database.run("PRAGMA auto_vacuum = INCREMENTAL");
    database.run("PRAGMA journal_mode = WAL");
    // A confirmed write must survive a power failure.
    database.run("PRAGMA synchronous = FULL");
    await vacuumOnce(database);
    return database;
  } catch (error) {
    connection?.close();
    releaseLock(lock);
    throw openingError(error, path);
  }
}

/**
 * A file from before incremental vacuum is rewritten if most of it is empty, which is fast then. Nothing is
 * served yet.
 */
async function vacuumOnce(database: SqliteDatabase): Promise<void> {
  const { free, pages, incremental } = await spaceOf(database.query);
  if (incremental || free < LEAST_FREE || free < pages / 2) return;
  try {
    database.run("PRAGMA auto_vacuum = INCREMENTAL");
    database.run("VACUUM");
  } catch {
    // Without room for the copy the file stays as it is.
  }
}

/**
 * An operating system lock on a file beside the database. It ends with the process, however that ends, and
 * other programs can still read and copy the database.
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
    if (!isBusy(error)) throw openingError(sqliteFault(error), path);
    throw new StoreError(
      "in_use",
      `${path} is in use by another process; an embedded store allows only one (use Postgres for several)`,
      error,
    );
  }
}

/**
 * Creates a file that only its owner can read; SQLite gives its additional files the same rights. An existing
 * file is not opened, because closing it would release every lock of this process on it.
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw new StoreError("unavailable", `${path} cannot be written (${codeOf(error) ?? "unknown"})`, error);
  }
}

function withLock(connection: SqliteConnection, lock: SqliteConnection): SqliteConnection {
  return {
    prepare: (sql) => connection.prepare(sql),
    exec: (sql) => connection.exec(sql),
    close: () => {
      connection.close();
      releaseLock(lock);
    },
  };
}

/**
 * Closing is not enough, because a library may keep the file open until its statements are garbage collected.
 */
function releaseLock(lock: SqliteConnection): void {
  lock.exec("ROLLBACK");
  lock.close();
}

function openingError(error: unknown, path: string): unknown {
  if (StoreError.is(error, "foreign"))
    return new StoreError("foreign", `${path} is not a store: ${error.message}`);
  return StoreError.is(error) ? new StoreError(error.code, `${path}: ${error.message}`, error) : error;
}
