/** A database for one test store: a file or a Postgres schema. */
import type { StoreOptions } from "./open-store.ts";
import type { Store } from "./store.ts";

/** An empty database for one store. */
export interface StoreDatabase {
  /** The secret key that `open` uses unless it is given another. */
  readonly secret: string;
  /** Opens the store. It is closed after the test. */
  open(more?: Partial<StoreOptions>): Promise<Store>;
  /** Runs one statement directly on the database, without the store. */
  sql(statement: string): Promise<readonly Record<string, unknown>[]>;
}
