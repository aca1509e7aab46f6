/**
 * Converts the rows of the other system to a document and keys. Pure; reports everything that differs
 * afterwards.
 */
import type { GatewayDocument } from "../document/document.ts";
import type { EndpointRow, ForeignRows, NamespaceRow, ServerMappingRow } from "./rows.ts";
import { entryOf } from "./server-entry.ts";
import { toolRules } from "./tool-rules.ts";
import { uniqueNames } from "./unique-names.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface TakenKey {
  readonly uuid: string;
  readonly name: string;
  readonly key: string;
  /** Names. */
  readonly endpoints: readonly string[];
}

export interface Takeover {
  readonly document: GatewayDocument;
  readonly keys: readonly TakenKey[];
  /** What was left out or changed, as texts for people. */
  readonly notes: readonly string[];
}

const ENDPOINT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const PREFIX = /^[A-Za-z0-9_.-]{1,48}$/;

export function takeOver(rows: ForeignRows): Takeover {
  const notes: string[] = [];
  const servers = serversOf(rows, notes);
  const namespaceNames = uniqueNames(rows.namespaces, "namespace", notes);
  const namespaces = rows.namespaces.map((row) => [
    namespaceNames.get(row.uuid),
    namespaceOf(row, rows, servers.names, notes),
  ]);
  const endpoints = endpointsOf(rows, namespaceNames, notes);
  notes.push(...leftOut(rows, servers.names));
  return {
    document: {
      version: 1,
      servers: servers.entries,
      namespaces: Object.fromEntries(namespaces) as Readonly<Record<string, Fields>>,
      endpoints: endpoints.entries,
    },
    keys: keysOf(rows, endpoints.names, notes),
    notes,
  };
}

/** By uuid. */
type Names = ReadonlyMap<string, string>;

function serversOf({ mcp_servers: rows }: ForeignRows, notes: string[]) {
  const usable = rows.flatMap((row) => {
    const entry = entryOf(row);
    if (typeof entry !== "string") return [{ row, entry }];
    notes.push(`server "${row.name}" was skipped: ${entry}`);
    return [];
  });
  const names = uniqueNames(
    usable.map(({ row }) => row),
    "server",
    notes,
  );
  const entries = usable.map(({ row, entry }) => [names.get(row.uuid), entry]);
  return { names, entries: Object.fromEntries(entries) as Readonly<Record<string, Fields>> };
}

function namespaceOf(row: NamespaceRow, rows: ForeignRows, names: Names, notes: string[]): Fields {
  const mappings = rows.namespace_server_mappings.filter(
    ({ namespace_uuid, mcp_server_uuid }) => namespace_uuid === row.uuid && names.has(mcp_server_uuid),
  );
  const entries = mappings.map((mapping) => [
    names.get(mapping.mcp_server_uuid),
    {
      ...(mapping.status === "INACTIVE" ? { disabled: true } : {}),
      ...prefixOf(mapping, mappings, rows, names),
    },
  ]);
  const tools = toolRules(row, rows, names, notes);
  return {
    ...(row.description ? { description: row.description } : {}),
    servers: Object.fromEntries(entries) as Fields,
    ...(Object.keys(tools).length > 0 ? { tools } : {}),
  };
}

/** Clients know tools as `server__tool`, so a renamed server keeps its old name as prefix. */
function prefixOf(
  { mcp_server_uuid: uuid }: ServerMappingRow,
  mappings: readonly ServerMappingRow[],
  { mcp_servers }: ForeignRows,
  names: Names,
): Fields {
  const nameOf = (of: string) => mcp_servers.find((server) => server.uuid === of)?.name;
  const before = nameOf(uuid) ?? "";
  if (names.get(uuid) === before || !PREFIX.test(before)) return {};
  const twins = mappings.filter((other) => nameOf(other.mcp_server_uuid) === before);
  return twins.length > 1 ? {} : { prefix: before };
}

function endpointsOf(rows: ForeignRows, namespaceNames: Names, notes: string[]) {
  const usable = rows.endpoints.filter(({ name }) => {
    if (ENDPOINT_NAME.test(name)) return true;
    notes.push(`endpoint "${name}" was skipped: its name is not valid in an address`);
    return false;
  });
  const names = uniqueNames(usable, "endpoint", notes);
  const entries = usable.map((row) => [names.get(row.uuid), endpointOf(row, rows, namespaceNames)]);
  for (const { name, enable_client_max_rate } of usable)
    if (enable_client_max_rate)
      notes.push(
        `endpoint "${name}" had a rate limit per client, which was not imported: add the layer rate-limit`,
      );
  return { names, entries: Object.fromEntries(entries) as Readonly<Record<string, Fields>> };
}

/** The surface is `aggregate`, because clients of the other system see every tool as `server__tool`. */
function endpointOf(row: EndpointRow, { users }: ForeignRows, namespaceNames: Names): Fields {
  const namespace = namespaceNames.get(row.namespace_uuid);
  const keys = row.enable_api_key_auth ?? false;
  const oauth = row.enable_oauth ?? false;
  const owner = users.find(({ id }) => id === row.user_id)?.email;
  return {
    ...(row.description ? { description: row.description } : {}),
    namespaces: namespace === undefined ? [] : [namespace],
    surface: "aggregate",
    access: {
      keys,
      oauth,
      ...(keys || oauth ? {} : { public: true }),
      ...(row.use_query_param_auth ? { queryKey: true } : {}),
      ...(owner ? { allow: { users: [owner] } } : {}),
    },
    ...limitOf(row),
  };
}

function limitOf({ enable_max_rate, max_rate, max_rate_seconds }: EndpointRow): Fields {
  if (!enable_max_rate || !max_rate || !max_rate_seconds) return {};
  const limit = { use: "rate-limit", requests: max_rate, per: `${max_rate_seconds}s`, by: "endpoint" };
  return { middleware: [limit] };
}

/** A key is valid for the endpoints of its owner and for public ones. */
function keysOf(rows: ForeignRows, names: Names, notes: string[]): readonly TakenKey[] {
  return rows.api_keys.flatMap(({ uuid, name, key, user_id, is_active }) => {
    const label = name.replaceAll(/[\p{Cc}\p{Cs}]/gu, "-").slice(0, 128);
    const endpoints = rows.endpoints
      .filter((endpoint) => endpoint.user_id == null || endpoint.user_id === user_id)
      .flatMap((endpoint) => names.get(endpoint.uuid) ?? []);
    const why =
      is_active === false
        ? "it was disabled"
        : !/^sk_mt_[\w-]{16,256}$/.test(key)
          ? "it is not of the form sk_mt_…"
          : endpoints.length === 0
            ? "it is valid for no endpoint"
            : undefined;
    if (why !== undefined) notes.push(`key "${label}" was skipped: ${why}`);
    return why === undefined ? [{ uuid, name: label.trim() || "key", key, endpoints }] : [];
  });
}

function leftOut({ oauth_sessions, users }: ForeignRows, names: Names): readonly string[] {
  const logins = oauth_sessions.flatMap(({ mcp_server_uuid }) => names.get(mcp_server_uuid) ?? []);
  return [
    ...logins.map((name) => `the login at server "${name}" was not imported: log in again`),
    ...(users.length > 0
      ? [`${users.length} accounts were not imported, because passwords cannot be copied`]
      : []),
  ];
}
