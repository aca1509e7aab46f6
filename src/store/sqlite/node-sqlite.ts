/** SQLite of the runtime, from Node 22.13 on. */
import type { SqliteConnection } from "./connection.ts";

/** The used part of `node:sqlite`. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    prepare(sql: string): {
      all(...values: unknown[]): unknown[];
      run(...values: unknown[]): { changes: number | bigint };
    };
    exec(sql: string): void;
    close(): void;
  };
}

/** Returns undefined if the runtime has no SQLite. */
export function openNodeSqlite(path: string): SqliteConnection | undefined {
  const sqlite = quietly(() => process.getBuiltinModule("node:sqlite") as NodeSqlite | undefined);
  if (!sqlite) return undefined;
  const database = new sqlite.DatabaseSync(path);
  return {
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        all: (values) => statement.all(...values),
        run: (values) => Number(statement.run(...values).changes),
      };
    },
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  };
}

/** Suppresses the warning that SQLite is experimental, because an operator cannot act on it. */
function quietly<T>(load: () => T): T {
  const before = Object.getOwnPropertyDescriptor(process, "emitWarning") as PropertyDescriptor;
  const warn = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!/SQLite/.test(String(warning))) warn(warning, ...rest);
  };
  try {
    return load();
  } finally {
    Object.defineProperty(process, "emitWarning", before);
  }
}
