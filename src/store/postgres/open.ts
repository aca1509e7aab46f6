/** Opens a Postgres store. `pg` is loaded here and nowhere else. */
import type { ClientConfig } from "pg";
import type { OnStatement } from "../database.ts";
import { PostgresDatabase } from "./database.ts";
import { Listener } from "./listener.ts";

/** Connections for the store; one more listens. Nothing that serves clients waits for them. */
const CONNECTIONS = 4;
const CONNECT_MS = 5_000;
/** A connection that says nothing for so long is taken for broken. */
const ANSWER_MS = 30_000;

export interface OpenPostgres {
  readonly database: PostgresDatabase;
  readonly listener: (heard: () => void) => Listener;
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
      // Numbers of ours stay below 2^53; `pg` would give those of 64 bits as text.
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    },
  };
  return {
    database: new PostgresDatabase(new pg.Pool({ ...config, max: CONNECTIONS }), onStatement),
    listener: (heard) => new Listener(() => new pg.Client(config), heard),
  };
}
