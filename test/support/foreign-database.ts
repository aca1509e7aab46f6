/** A database of an older MetaMCP, for import tests, in its own schema. It is deleted after the test. */
import { postgresDatabase, type TestDatabase } from "./test-databases.ts";

const TABLES = `
CREATE TABLE users (id text PRIMARY KEY, name text, email text NOT NULL UNIQUE);
CREATE TYPE mcp_server_type AS ENUM ('STDIO', 'SSE', 'STREAMABLE_HTTP');
CREATE TYPE mcp_server_status AS ENUM ('ACTIVE', 'INACTIVE');
CREATE TABLE mcp_servers (
  uuid uuid PRIMARY KEY, name text NOT NULL, description text, type mcp_server_type NOT NULL, command text,
  args text[] NOT NULL DEFAULT '{}', env jsonb NOT NULL DEFAULT '{}', url text, bearer_token text,
  headers jsonb NOT NULL DEFAULT '{}', error_status text NOT NULL DEFAULT 'NONE',
  user_id text REFERENCES users (id), created_at timestamptz NOT NULL DEFAULT now(), UNIQUE (name, user_id));
CREATE TABLE oauth_sessions (uuid uuid PRIMARY KEY, mcp_server_uuid uuid NOT NULL UNIQUE REFERENCES mcp_servers,
  client_information jsonb, tokens jsonb, code_verifier text);
CREATE TABLE tools (uuid uuid PRIMARY KEY, name text NOT NULL, description text, tool_schema jsonb NOT NULL,
  mcp_server_uuid uuid NOT NULL REFERENCES mcp_servers);
CREATE TABLE namespaces (uuid uuid PRIMARY KEY, name text NOT NULL, description text, user_id text);
CREATE TABLE endpoints (
  uuid uuid PRIMARY KEY, name text NOT NULL UNIQUE, description text, namespace_uuid uuid NOT NULL REFERENCES namespaces,
  enable_api_key_auth boolean NOT NULL DEFAULT true, enable_oauth boolean NOT NULL DEFAULT false,
  use_query_param_auth boolean NOT NULL DEFAULT false, enable_max_rate boolean NOT NULL DEFAULT false,
  max_rate int, max_rate_seconds int, enable_client_max_rate boolean NOT NULL DEFAULT false, client_max_rate int,
  client_max_rate_seconds int, client_max_rate_strategy text, client_max_rate_strategy_key text, user_id text);
CREATE TABLE namespace_server_mappings (uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  namespace_uuid uuid NOT NULL, mcp_server_uuid uuid NOT NULL, status mcp_server_status NOT NULL DEFAULT 'ACTIVE');
CREATE TABLE namespace_tool_mappings (uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), namespace_uuid uuid NOT NULL,
  tool_uuid uuid NOT NULL, mcp_server_uuid uuid NOT NULL, status mcp_server_status NOT NULL DEFAULT 'ACTIVE',
  override_name text, override_title text, override_description text, override_annotations jsonb);
CREATE TABLE api_keys (uuid uuid PRIMARY KEY, name text NOT NULL, key text NOT NULL UNIQUE, user_id text,
  is_active boolean NOT NULL DEFAULT true);`;

const id = (n: number): string => `'00000000-0000-4000-8000-${String(n).padStart(12, "0")}'`;
export const FOREIGN_KEY = `sk_mt_${"Ab1".repeat(21)}z`;

const ROWS = `
INSERT INTO users VALUES ('u', 'U', 'u@x.invalid');
INSERT INTO mcp_servers (uuid, name, type, command, args, env, url, bearer_token, user_id) VALUES
  (${id(1)}, 'files', 'STDIO', 'run-files', '{-y,"a b"}', '{"TOKEN": "env-secret"}', NULL, NULL, NULL),
  (${id(2)}, 'remote', 'STREAMABLE_HTTP', NULL, '{}', '{}', 'https://r.invalid/mcp', 'bearer-secret', NULL),
  (${id(3)}, 'files', 'STDIO', 'other-files', '{}', '{}', NULL, NULL, 'u');
INSERT INTO tools VALUES (${id(11)}, 'read', '', '{}', ${id(1)}), (${id(12)}, 'write', '', '{}', ${id(1)});
INSERT INTO namespaces VALUES (${id(21)}, 'team', 'Files of the team', NULL);
INSERT INTO namespace_server_mappings (namespace_uuid, mcp_server_uuid, status) VALUES
  (${id(21)}, ${id(1)}, 'ACTIVE'), (${id(21)}, ${id(2)}, 'INACTIVE');
INSERT INTO namespace_tool_mappings (namespace_uuid, tool_uuid, mcp_server_uuid, status, override_name) VALUES
  (${id(21)}, ${id(11)}, ${id(1)}, 'ACTIVE', 'get'), (${id(21)}, ${id(12)}, ${id(1)}, 'INACTIVE', NULL);
INSERT INTO endpoints (uuid, name, namespace_uuid, enable_max_rate, max_rate, max_rate_seconds) VALUES
  (${id(31)}, 'team', ${id(21)}, true, 10, 60);
INSERT INTO api_keys VALUES (${id(41)}, 'ci', '${FOREIGN_KEY}', NULL, true);`;

export async function foreignDatabase(): Promise<TestDatabase> {
  const database = await postgresDatabase();
  await database.sql(TABLES);
  await database.sql(ROWS);
  return database;
}
