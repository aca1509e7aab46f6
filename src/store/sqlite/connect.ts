/** Which library opens an embedded store. */
import type { SqliteConnection } from "./connection.ts";
import { openLibsql } from "./libsql.ts";
import { openNodeSqlite } from "./node-sqlite.ts";

/** The runtime's own SQLite where it has one, else `libsql`. */
export async function connect(path: string): Promise<SqliteConnection> {
  return openNodeSqlite(path) ?? (await openLibsql(path));
}
