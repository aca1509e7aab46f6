/**
 * Postgres with a small connection pool. A broken connection is discarded, and the next query gets another
 * one.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ClientBase, PoolClient, Pool as PoolType } from "pg";
import type {
  Database,
  OnStatement,
  Query,
  SqlResult,
  SqlRow,
  SqlValue,
  TransactionOptions,
} from "../database.ts";
import { StoreError } from "../error.ts";
import { hasNoRoom, postgresFault } from "./fault.ts";
import { NOTIFY } from "./listener.ts";

const CLOSE_MS = 1_000;
/** So long a statement waits for a Postgres that has no connection left. */
const FULL_MS = 10_000;
/** So long it waits while this process starts. No client waits for that, and others may be starting too. */
const STARTING_MS = 60_000;
/** Pauses between attempts differ, so that processes that began together do not meet again. */
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 800;

export class PostgresDatabase implements Database {
  readonly dialect = "postgres";
  readonly #pool: PoolType;
  readonly #onStatement: OnStatement;
  readonly #clients = new Set<PoolClient>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #most: number;
  readonly #openedAt = performance.now();
  #closed = false;

  constructor(pool: PoolType, onStatement: OnStatement) {
    this.#pool = pool;
    this.#most = pool.options.max ?? 1;
    this.#onStatement = onStatement;
    // Without these listeners an error event would end the process. Queries on the connection reject anyway.
    pool.on("error", () => {});
    pool.on("connect", (client) => {
      client.on("error", () => {});
      this.#clients.add(client);
    });
    pool.on("remove", (client) => this.#clients.delete(client));
  }

  readonly query: Query = async (sql, values) => await this.#run((client) => this.#send(client, sql, values));

  async transaction<T>(
    run: (query: Query) => Promise<T>,
    { lock, notify = false }: TransactionOptions = {},
  ): Promise<T> {
    return await this.#run(async (client) => {
      const query: Query = (sql, values) => this.#send(client, sql, values);
      await query("BEGIN");
      try {
        // Includes the schema, because two stores may share a database.
        if (lock !== undefined)
          await query("SELECT pg_advisory_xact_lock(hashtext(current_schema()), hashtext(?))", [lock]);
        const result = await run(query);
        if (notify) await query(NOTIFY);
        await query("COMMIT").catch(unsure);
        return result;
      } catch (error) {
        if (!StoreError.is(error, "unavailable")) await query("ROLLBACK");
        throw error;
      }
    });
  }

  /**
   * Queries without an answer are given up after a short time, because a server that hangs would hold the
   * process. The pool ends after those that wait for a connection, because it never gives them one then.
   */
  async close(): Promise<void> {
    this.#closed = true;
    const ended = Promise.allSettled(this.#running).then(() => this.#pool.end());
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([ended, late]);
    clearTimeout(timer);
    // Ending a client with a running query closes its socket, and the query rejects.
    for (const client of this.#clients) endNow(client);
  }

  async #run<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreError("unavailable", "the store is closed");
    const running = this.#using(run);
    this.#running.add(running);
    return await running.finally(() => this.#running.delete(running));
  }

  async #using<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    try {
      return await run(client);
    } catch (error) {
      broken = StoreError.is(error, "unavailable");
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * Where many processes start at one moment, Postgres has connections again soon. Until then statements make
   * do with those that this process has: the pool looks at `max` whenever one asks for a connection.
   */
  async #connect(): Promise<PoolClient> {
    const { options } = this.#pool;
    const end = Math.max(performance.now() + FULL_MS, this.#openedAt + STARTING_MS);
    for (let longest = 2 * SHORTEST_PAUSE_MS; ; longest = Math.min(2 * longest, LONGEST_PAUSE_MS)) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (!hasNoRoom(error) || this.#closed || performance.now() >= end) throw postgresFault(error);
      }
      options.max = Math.max(1, this.#pool.totalCount);
      await pause(SHORTEST_PAUSE_MS + Math.random() * (longest - SHORTEST_PAUSE_MS));
      options.max = this.#most;
    }
  }

  async #send(client: PoolClient, sql: string, values: readonly SqlValue[] = []): Promise<SqlResult> {
    this.#onStatement(sql);
    try {
      const { rows, rowCount } = await client.query<SqlRow>(numbered(sql), [...values]);
      return { rows, count: rowCount ?? 0 };
    } catch (error) {
      throw postgresFault(error);
    }
  }
}

/** The pool gives out clients without this method, but every one has it. */
function endNow(client: PoolClient): void {
  (client as unknown as ClientBase & { end(): Promise<void> }).end().catch(() => {});
}

/** Without an answer to COMMIT, the server may have committed. */
function unsure(error: unknown): never {
  const lost = StoreError.is(error, "unavailable");
  throw lost ? new StoreError(error.code, error.message, error, true) : error;
}

/** Replaces `?` with `$1`, `$2` …. No statement of the store contains `?` in a literal. */
function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll("?", () => `$${++n}`);
}
