/** Which entries a request for a list of a registry means: search, time, version and page. Pure. */
import type { RegistryEntry } from "./registry-entries.ts";

export interface RegistryList {
  readonly servers: readonly RegistryEntry[];
  readonly metadata: { readonly count: number; readonly nextCursor?: string };
}

const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 100;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Returns a text that says what is wrong with the query. */
export function registryPage(all: readonly RegistryEntry[], query: URLSearchParams): RegistryList | string {
  const limit = Number(query.get("limit") ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1) return "limit must be a whole number from 1";
  const since = query.get("updated_since");
  if (since !== null && !(TIME.test(since) && Date.parse(since) >= 0))
    return "updated_since must be a time such as 2030-01-31T12:00:00Z";
  const [search, version] = [query.get("search")?.toLowerCase() ?? "", query.get("version") ?? "latest"];
  const from = (query.get("cursor") ?? "").split(":", 1)[0] ?? "";
  const matching = all
    .filter(({ server }) => server.name.toLowerCase().includes(search))
    .filter(({ server }) => version === "latest" || server.version === version)
    .filter((entry) => since === null || Date.parse(updatedAt(entry)) >= Date.parse(since))
    .toSorted((a, b) => (a.server.name < b.server.name ? -1 : 1))
    .filter(({ server }) => server.name > from);
  const servers = matching.slice(0, Math.min(limit, MAX_LIMIT));
  const last = servers.at(-1)?.server;
  const more = last && matching.length > servers.length;
  return {
    servers,
    metadata: { count: servers.length, ...(more && { nextCursor: `${last.name}:${last.version}` }) },
  };
}

function updatedAt(entry: RegistryEntry): string {
  return entry._meta["io.modelcontextprotocol.registry/official"].updatedAt;
}
