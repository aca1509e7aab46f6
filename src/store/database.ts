/** A database as the store sees it: statements with `?` for values, and transactions. Both drivers look like this. */

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlResult {
  readonly rows: readonly SqlRow[];
  /** How many rows a statement without rows of its own changed. */
  readonly count: number;
}

export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<SqlResult>;

export type SqlDialect = "sqlite" | "postgres";

export interface TransactionOptions {
  /** Transactions with the same lock run one after the other, in whichever process. */
  readonly lock?: string;
  /** Tells other processes at once that something changed. */
  readonly notify?: boolean;
}

export interface Database {
  readonly dialect: SqlDialect;
  /** One statement on its own. Not to be used inside a transaction. */
  readonly query: Query;
  /** All or nothing. Faults arrive as StoreError where they have a meaning here. */
  transaction<T>(run: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  close(): Promise<void>;
}

/** Hears of every statement that goes to the database. */
export type OnStatement = (sql: string) => void;

/** How many rows go into one statement: both databases bound the number of values. */
export const MOST_ROWS = 500;

/** `(?, ?), (?, ?)` for so many rows of a shape. */
export function rowsOf(count: number, shape: string): string {
  return Array.from({ length: count }, () => shape).join(", ");
}

/** Parts of at most `MOST_ROWS`. */
export function* parts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += MOST_ROWS) yield items.slice(at, at + MOST_ROWS);
}
