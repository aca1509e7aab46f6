/** Where the contract finds a store. */
import type { StoreOptions } from "./open-store.ts";
import type { Store } from "./store.ts";

/** An empty place for one store. */
export interface StorePlace {
  /** The secret key that `open` uses unless it is given another. */
  readonly secret: string;
  /** Opens it; it is closed when the test is over. */
  open(more?: Partial<StoreOptions>): Promise<Store>;
  /** One statement past the store. */
  sql(statement: string): Promise<readonly Record<string, unknown>[]>;
}
