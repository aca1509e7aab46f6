/**
 * A database shared by several gateways. Refuses writes of a gateway whose secret key is not the current one.
 */
import type { Database, Query, SqlDialect, TransactionOptions } from "./database.ts";
import { StoreError } from "./error.ts";
import { keyIdOf } from "./seal.ts";
import { lockedRoot } from "./unlock.ts";

export class KeyedDatabase implements Database {
  readonly dialect: SqlDialect;
  readonly query: Query;
  readonly #database: Database;
  readonly #keyId: string;

  constructor(database: Database, keyId: string) {
    this.dialect = database.dialect;
    this.query = database.query;
    this.#database = database;
    this.#keyId = keyId;
  }

  /** A change of the key waits for this transaction, and then reseals what it wrote. */
  async transaction<T>(run: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return await this.#database.transaction(async (query) => {
      const root = await lockedRoot(query, "SHARE");
      if (root !== undefined && keyIdOf(root) !== this.#keyId)
        throw new StoreError(
          "key_wrong",
          "the secret key of this store was changed: start this gateway again with the new METAMCP_SECRET_KEY",
        );
      return await run(query);
    }, options);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}
