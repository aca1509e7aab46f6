/** Where in a file the servers are. */
import { isKeys, type Keys } from "../config/field.ts";
import type { WrittenServer } from "./client.ts";

/** By name, or in a list of things that have one. */
export function listed(file: Keys, at: readonly string[]): readonly WrittenServer[] {
  const found = dig(file, at);
  if (Array.isArray(found)) {
    return found.filter(isKeys).map((entry) => ({ name: nameOf(entry), entry }));
  }
  return isKeys(found) ? Object.entries(found).map(([name, entry]) => ({ name, entry })) : [];
}

function nameOf({ name }: Keys): string {
  return typeof name === "string" ? name : "";
}

export function dig(file: Keys, at: readonly string[]): unknown {
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

/** A server may itself be called "servers". */
export function isNested(file: Keys): boolean {
  const inner = dig(file, ["mcp", "servers"]);
  return isKeys(inner) && !isServer({ entry: inner });
}

export function isServer({ entry }: Pick<WrittenServer, "entry">): boolean {
  return isKeys(entry) && (typeof entry["type"] === "string" || typeof entry["enabled"] === "boolean");
}
