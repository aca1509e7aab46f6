/** Opens a Postgres store. Only this module loads `pg`. */
import type { ClientConfig } from "pg";
import type { OnStatement } from "../database.ts";
import { StoreError } from "../error.ts";
import { PostgresDatabase } from "./database.ts";
import { Listener } from "./listener.ts";

/** Connections for the store; one more listens. No call of a client waits for them. */
const CONNECTIONS = 4;
/** Rarely is more than one needed, and Postgres has few for all replicas together. */
const IDLE_MS = 1_000;
/** A process that gave its last one away might not get it back while Postgres is full. */
const KEPT = 1;
const CONNECT_MS = 5_000;
/** A connection without an answer for this time counts as broken. */
const ANSWER_MS = 30_000;

export interface OpenPostgres {
  readonly database: PostgresDatabase;
  readonly listener: (onNotification: () => void) => Listener;
}

export async function openPostgres(
  url: string,
  onStatement: OnStatement,
  password?: string,
): Promise<OpenPostgres> {
  const { default: pg } = await import("pg");
  const config: ClientConfig = {
    connectionString: withPassword(url, password),
    application_name: "metamcp",
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types: {
      // Our numbers stay below 2^53. By default `pg` returns 64-bit numbers as text.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  };
  return {
    database: new PostgresDatabase(
      new pg.Pool({ ...config, min: KEPT, max: CONNECTIONS, idleTimeoutMillis: IDLE_MS }),
      onStatement,
    ),
    listener: (onNotification) => new Listener(() => new pg.Client(config), onNotification),
  };
}

/**
 * Adds the password if the URL has none. Throws if the URL is invalid, which is mostly the fault of a
 * character in its password.
 */
export function withPassword(url: string, password: string | undefined): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || `${parsed.pathname}${parsed.hash}`.includes("@"))
    throw new StoreError(
      "invalid",
      "the URL of the store is invalid: in its user and password write %2F for /, %23 for #, %3F for ?, %40 for @ and %25 for %, or leave the password out and set PGPASSWORD",
    );
  if (parsed.password === "" && !parsed.searchParams.has("password") && password)
    parsed.searchParams.set("password", password);
  return parsed.href;
}
