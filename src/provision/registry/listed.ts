/**
 * Reads one item of a registry's list: an available server, or one that was removed. Ignores versions that
 * are not the latest.
 */
import { isKeys, type Keys } from "../../config/field.ts";
import { isServerName } from "./pattern.ts";
import { readServer, type ServerJson } from "./server-json.ts";

const OFFICIAL = "io.modelcontextprotocol.registry/official";

export type ListedServer =
  | { readonly name: string; readonly server: ServerJson }
  /** The server was removed; with a version, only that version. `flaw`: why its entry cannot be used. */
  | { readonly name: string; readonly gone: string | undefined; readonly flaw?: string };

/** Undefined for items without a valid server name, see `isNameless`, and for outdated versions. */
export function readListed(item: unknown): ListedServer | undefined {
  if (!isKeys(item)) return undefined;
  // In the format before v0.1 the item is the server itself.
  const body = isKeys(item["server"]) ? item["server"] : item;
  const { name } = body;
  if (typeof name !== "string" || !isServerName(name)) return undefined;
  const official = officialOf(item) ?? officialOf(body) ?? {};
  const { isLatest } = official;
  if (isLatest === false) return undefined;
  const status = official["status"] ?? body["status"] ?? "active";
  if (status !== "active") {
    const version = typeof body["version"] === "string" ? body["version"] : undefined;
    return { name, gone: isLatest === true ? undefined : version };
  }
  const server = readServer(body);
  // If the latest version cannot be used, an older one must not stay in the list.
  return "reason" in server ? { name, gone: undefined, flaw: server.reason } : { name, server };
}

/** Whether no server can be told from the item. */
export function isNameless(item: unknown): boolean {
  const body = isKeys(item) && isKeys(item["server"]) ? item["server"] : item;
  const name = isKeys(body) ? body["name"] : undefined;
  return typeof name !== "string" || !isServerName(name);
}

function officialOf({ _meta }: Keys): Keys | undefined {
  const official = isKeys(_meta) && Object.hasOwn(_meta, OFFICIAL) ? _meta[OFFICIAL] : undefined;
  return isKeys(official) ? official : undefined;
}

export function apply(listed: ListedServer, servers: Map<string, ServerJson>): void {
  if ("server" in listed) servers.set(listed.name, listed.server);
  else if (listed.gone === undefined || servers.get(listed.name)?.version === listed.gone)
    servers.delete(listed.name);
}
