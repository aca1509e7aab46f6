/** A database that records failures in `Availability`, and refuses requests while it is down. */

import type { Availability } from "./availability.ts";
import type { Database, Query, SqlDialect, TransactionOptions } from "./database.ts";
import { StoreError } from "./error.ts";

export class GuardedDatabase implements Database {
  readonly dialect: SqlDialect;
  readonly #database: Database;
  readonly #availability: Availability;

  constructor(database: Database, availability: Availability) {
    this.dialect = database.dialect;
    this.#database = database;
    this.#availability = availability;
  }

  readonly query: Query = async (sql, values) =>
    await this.#guard(() => this.#database.query(sql, values), !sql.startsWith("SELECT"));

  async transaction<T>(run: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return await this.#guard(() => this.#database.transaction(run, options), true);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async #guard<T>(run: () => Promise<T>, writes: boolean): Promise<T> {
    const { state } = this.#availability;
    // An embedded database is tried each time, because nothing polls it. Postgres is polled by `Watch`;
    // trying it would make every request wait.
    if (!state.up && this.dialect !== "sqlite")
      throw new StoreError("unavailable", `the store is down: ${state.reason}`);
    try {
      const result = await run();
      // Only a write proves that it is up, because a full disk can still be read.
      if (writes && this.dialect === "sqlite") this.#availability.up();
      return result;
    } catch (error) {
      if (StoreError.is(error, "unavailable")) this.#availability.down(error.message);
      throw error;
    }
  }
}
