/** The interface of both database drivers: statements with `?` for values, and transactions. */

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlResult {
  readonly rows: readonly SqlRow[];
  /** Number of changed rows, for a statement that returns no rows. */
  readonly count: number;
}

export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<SqlResult>;

export type SqlDialect = "sqlite" | "postgres";

export interface TransactionOptions {
  /** Transactions with the same lock run one after the other, across all processes. */
  readonly lock?: string;
  /** Notifies other processes of the change. */
  readonly notify?: boolean;
}

export interface Database {
  readonly dialect: SqlDialect;
  /** Runs one statement outside of transactions. */
  readonly query: Query;
  /** All or nothing. Known errors of the database become StoreError. */
  transaction<T>(run: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
}

/** Called for every statement that is sent to the database. */
export type OnStatement = (sql: string) => void;

/** Rows per statement. Both databases limit the number of values. */
export const MAX_ROWS = 500;

/** Repeats a row of placeholders: `(?, ?), (?, ?)`. */
export function placeholders(count: number, row: string): string {
  return Array.from({ length: count }, () => row).join(", ");
}

/** Splits items into chunks of at most `MAX_ROWS`. */
export function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += MAX_ROWS) yield items.slice(at, at + MAX_ROWS);
}
