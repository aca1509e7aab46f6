/** Reads the tables of the other system, in one read-only transaction. */
import type { ForeignRows } from "./rows.ts";

const CONNECT_MS = 10_000;
const ANSWER_MS = 60_000;

/** The sort order of each table. It decides which row keeps a duplicate name: public rows come first. */
const TABLES: Readonly<Record<keyof ForeignRows, string>> = {
  mcp_servers: "user_id NULLS FIRST, name, uuid",
  namespaces: "user_id NULLS FIRST, name, uuid",
  endpoints: "user_id NULLS FIRST, name, uuid",
  namespace_server_mappings: "namespace_uuid, mcp_server_uuid",
  namespace_tool_mappings: "namespace_uuid, mcp_server_uuid, tool_uuid",
  tools: "mcp_server_uuid, name",
  api_keys: "name, uuid",
  oauth_sessions: "mcp_server_uuid",
  users: "id",
};

/** Tables that some versions do not have. */
const OPTIONAL: readonly string[] = ["oauth_sessions", "users"];

export async function readDatabase(url: string): Promise<ForeignRows> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    connectionString: url,
    application_name: "metamcp",
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
  });
  // The pending query reports a broken connection.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const rows: Record<string, unknown> = {};
    for (const [table, order] of Object.entries(TABLES)) {
      const { rows: there } = await client.query<{ found: unknown }>("SELECT to_regclass($1) AS found", [
        table,
      ]);
      if (there[0]?.found)
        rows[table] = (await client.query(`SELECT * FROM ${table} ORDER BY ${order}`)).rows;
      else if (OPTIONAL.includes(table)) rows[table] = [];
      else
        throw new Error(`The database has no table "${table}": it is not the database of an older MetaMCP.`);
    }
    return rows as unknown as ForeignRows;
  } finally {
    await client.end().catch(() => {});
  }
}
