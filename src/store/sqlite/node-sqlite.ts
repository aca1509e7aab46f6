/** SQLite as the runtime brings it, from Node 22.13 on. */
import type { SqliteConnection } from "./connection.ts";

/** The part of `node:sqlite` that is used. */
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

/** Undefined where the runtime has none. */
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

/** Loading it prints that it is experimental, which tells an operator nothing to act on. */
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
