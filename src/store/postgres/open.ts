/** Opens a Postgres store. Only this module loads `pg`. */
import type { ClientConfig } from "pg";
import type { OnStatement } from "../database.ts";
import { PostgresDatabase } from "./database.ts";
import { Listener } from "./listener.ts";

/** Connections for the store; one more listens. No call of a client waits for them. */
const CONNECTIONS = 4;
const CONNECT_MS = 5_000;
/** A connection without an answer for this time counts as broken. */
const ANSWER_MS = 30_000;

export interface OpenPostgres {
  readonly database: PostgresDatabase;
  readonly listener: (onNotification: () => void) => Listener;
}

export async function openPostgres(url: string, onStatement: OnStatement): Promise<OpenPostgres> {
  const { default: pg } = await import("pg");
  const config: ClientConfig = {
    connectionString: url,
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
    database: new PostgresDatabase(new pg.Pool({ ...config, max: CONNECTIONS }), onStatement),
    listener: (onNotification) => new Listener(() => new pg.Client(config), onNotification),
  };
}
