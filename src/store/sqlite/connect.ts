/** Chooses the library for an embedded store. */
import type { SqliteConnection } from "./connection.ts";
import { openLibsql } from "./libsql.ts";
import { openNodeSqlite } from "./node-sqlite.ts";

/** Uses the SQLite of the runtime if it has one, otherwise `libsql`. */
export async function connect(path: string): Promise<SqliteConnection> {
  return openNodeSqlite(path) ?? (await openLibsql(path));
}
