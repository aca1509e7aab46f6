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

/** Gemini CLI starts only the servers in `mcp.allowed`, if there are any, and none in `mcp.excluded`. */
export function allowedByList(file: Keys, servers: readonly WrittenServer[]): readonly WrittenServer[] {
  const names = (key: string): readonly unknown[] => {
    const list = valueAt(file, ["mcp", key]);
    return Array.isArray(list) ? (list as unknown[]) : [];
  };
  const [allowed, excluded] = [names("allowed"), names("excluded")];
  return servers.map((server) => {
    const isOn = (allowed.length === 0 || allowed.includes(server.name)) && !excluded.includes(server.name);
    return isOn ? server : completed(server, { disabled: true });
  });
}

/** opencode turns tools off by `SERVER_TOOL: false` in `tools`, beside the servers. */
export function withoutTools(file: Keys, servers: readonly WrittenServer[]): readonly WrittenServer[] {
  const { tools } = file;
  if (!isKeys(tools)) return servers;
  const off = Object.keys(tools).filter((name) => tools[name] === false);
  return servers.map((server) => {
    const prefix = `${server.name}_`;
    const denied = off.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    return denied.length > 0 ? completed(server, { disabledTools: denied }) : server;
  });
}

function completed(server: WrittenServer, more: Keys): WrittenServer {
  const { entry } = server;
  return isKeys(entry) ? { ...server, entry: { ...entry, ...more }, written: entry } : server;
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
