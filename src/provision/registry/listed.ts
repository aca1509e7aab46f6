/** One item of a registry's list: a server that can be had, or one that no longer can. Tells versions that are not the latest from the one that is. */
import { isKeys, type Keys } from "../../config/field.ts";
import { isServerName } from "./pattern.ts";
import { readServer, type ServerJson } from "./server-json.ts";

const OFFICIAL = "io.modelcontextprotocol.registry/official";

export type Listed =
  | { readonly name: string; readonly server: ServerJson }
  /** What was known under that name goes; with a version only if it is that one. */
  | { readonly name: string; readonly gone: string | undefined };

/** Undefined for what says nothing about any server. */
export function readListed(item: unknown): Listed | undefined {
  if (!isKeys(item)) return undefined;
  // Before v0.1 the server stood there itself.
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
  // A name whose latest version cannot be used must not live on as an older one.
  return "reason" in server ? { name, gone: undefined } : { name, server };
}

function officialOf({ _meta }: Keys): Keys | undefined {
  const official = isKeys(_meta) && Object.hasOwn(_meta, OFFICIAL) ? _meta[OFFICIAL] : undefined;
  return isKeys(official) ? official : undefined;
}

export function apply(listed: Listed, servers: Map<string, ServerJson>): void {
  if ("server" in listed) servers.set(listed.name, listed.server);
  else if (listed.gone === undefined || servers.get(listed.name)?.version === listed.gone)
    servers.delete(listed.name);
}
