/** Finds the servers in a client's file. */
import { isKeys, type Keys } from "../config/field.ts";
import type { WrittenServer } from "./client.ts";

/** Reads servers from an object by name, or from a list of objects with a `name`. */
export function listed(file: Keys, at: readonly string[]): readonly WrittenServer[] {
  const found = valueAt(file, at);
  if (Array.isArray(found)) {
    return found.filter(isKeys).map((entry) => ({ name: nameOf(entry), entry }));
  }
  return isKeys(found) ? Object.entries(found).map(([name, entry]) => ({ name, entry })) : [];
}

function nameOf({ name }: Keys): string {
  return typeof name === "string" ? name : "";
}

export function valueAt(file: Keys, at: readonly string[]): unknown {
  return at.reduce<unknown>(
    (value, key) => (isKeys(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    file,
  );
}

export function perProject(file: Keys): readonly WrittenServer[] {
  const { projects } = file;
  if (!isKeys(projects)) return [];
  return Object.entries(projects).flatMap(([project, settings]) =>
    isKeys(settings) ? listed(settings, ["mcpServers"]).map((server) => ({ ...server, project })) : [],
  );
}

/** Whether `mcp.servers` contains the servers. It may also be a server named "servers". */
export function isNested(file: Keys): boolean {
  const inner = valueAt(file, ["mcp", "servers"]);
  return isKeys(inner) && !isServer({ entry: inner });
}

export function isServer({ entry }: Pick<WrittenServer, "entry">): boolean {
  return isKeys(entry) && (typeof entry["type"] === "string" || typeof entry["enabled"] === "boolean");
}
