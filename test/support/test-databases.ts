/**
 * Empty databases for store tests: a file, or a new schema in a running Postgres. They are deleted after the
 * test.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { systemClock } from "../../src/engine/system-clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { openStore } from "../../src/store/open-store.ts";
import { connect } from "../../src/store/sqlite/connect.ts";
import type { StoreDatabase } from "../../src/store/store-database.contract.ts";
import { atEnd } from "./shared.ts";
import { temp } from "./temp.ts";

const SECRET = "a-secret-for-tests-0123456789-abcdef";

export interface TestDatabase extends StoreDatabase {
  readonly url: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

const POSTGRES = process.env["METAMCP_TEST_POSTGRES"] ?? "postgres://postgres@127.0.0.1:5432/test";

/** The reason if Postgres tests are skipped. */
export const noPostgres: string | undefined = await reach();

async function reach(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: POSTGRES, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [error];
    return first instanceof Error ? first.message : String(first);
  } finally {
    await client.end().catch(() => {});
  }
}

export function sqliteDatabase(): TestDatabase {
  const { home, path } = temp();
  const file = path("gateway.db");
  return {
    ...at(`file:${file}`, home),
    sql: async (statement) => {
      const connection = await connect(file);
      try {
        return connection.prepare(statement).all([]) as Record<string, unknown>[];
      } finally {
        connection.close();
      }
    },
  };
}

export async function postgresDatabase(address = POSTGRES): Promise<TestDatabase> {
  const { folder } = temp();
  const schema = `store_${randomBytes(6).toString("hex")}`;
  await once(`CREATE SCHEMA ${schema}`);
  atEnd(() => once(`DROP SCHEMA ${schema} CASCADE`).then(() => {}));
  return {
    ...at(inSchema(address, schema), join(folder, "home")),
    sql: (statement) => once(statement, inSchema(POSTGRES, schema)),
  };
}

/**
 * Its user may have so many connections and no more: one that asks for another is refused as by a full
 * Postgres.
 */
export async function crowdedDatabase(connections: number): Promise<TestDatabase> {
  const database = await postgresDatabase();
  const url = new URL(database.url);
  const user = url.searchParams.get("application_name") as string;
  const password = randomBytes(12).toString("hex");
  await database.sql(`CREATE ROLE ${user} LOGIN PASSWORD '${password}' CONNECTION LIMIT ${connections}`);
  atEnd(() => once(`DROP OWNED BY ${user}; DROP ROLE ${user}`));
  await database.sql(`GRANT ALL ON SCHEMA ${user} TO ${user}`);
  url.username = user;
  url.password = password;
  return { ...at(url.href, database.home), sql: database.sql };
}

/** A whole Postgres, such as one that a test has started. */
export function wholeDatabase(url: string): TestDatabase {
  return { ...at(url, temp().home), sql: (statement) => once(statement, url) };
}

/** The schema comes before pg_catalog in the search path, so that a test can replace system functions. */
function inSchema(address: string, schema: string): string {
  const url = new URL(address);
  url.searchParams.set("options", `-c search_path=${schema},pg_catalog`);
  // Identifies the connections of this test.
  url.searchParams.set("application_name", schema);
  return url.href;
}

async function once(statement: string, address = POSTGRES): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(statement)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** A store at `url`. `open` can override the options. */
export function at(url: string, home: string): Omit<TestDatabase, "sql"> {
  const env = { METAMCP_SECRET_KEY: SECRET };
  return {
    url,
    home,
    env,
    secret: SECRET,
    open: async (more = {}) => {
      const store = await openStore({ url, home, env, clock: systemClock, log: silentLog, ...more });
      // These callbacks run in reverse order, so the store closes before the database is deleted.
      atEnd(() => store.close());
      return store;
    },
  };
}

export function postgresAddress(): { readonly host: string; readonly port: number; readonly url: URL } {
  const url = new URL(POSTGRES);
  return { host: url.hostname, port: Number(url.port || 5432), url };
}
