/**
 * The mirror of a registry's list on disk: a line with metadata, then one line per server. Reads and writes
 * let the event loop run in between. An incomplete or invalid file is ignored.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { isKeys } from "../../config/field.ts";
import { isAbsent, readIfThere, writeAtomic } from "../../home/file.ts";
import { safeName } from "../../home/safe-name.ts";
import type { Base } from "./base.ts";
import { readServer, type ServerJson } from "./server-json.ts";

/** Metadata of the list. */
export interface MirrorHead {
  /** The list contains the changes up to this time. The next update asks for changes since then. */
  readonly since: string;
  /** When the last update succeeded, in ms; undefined if none did. */
  readonly checkedAt?: number | undefined;
  /** When the full list was last read, in ms. */
  readonly wholeAt?: number | undefined;
  /** Where to continue if the full list has never been read to its end. */
  readonly cursor?: string | undefined;
  readonly etag?: { readonly url: string; readonly tag: string } | undefined;
}

export interface RegistryMirror {
  readonly head: MirrorHead;
  readonly servers: ReadonlyMap<string, ServerJson>;
}

/** A file with another format text is ignored. */
const FORMAT = "metamcp registry 1";
const MAX_FILE_BYTES = 96 << 20;
const MAX_SERVERS = 60_000;
const SERVERS_PER_TURN = 400;

export function mirrorPath(home: string, { url }: Base): string {
  return join(home, "registry", `${safeName(`${url.host}${url.pathname}`.replace(/\/$/, ""))}.jsonl`);
}

/** Undefined if there is no valid mirror. */
export async function readMirror(path: string, { url }: Base): Promise<RegistryMirror | undefined> {
  try {
    if ((await stat(path)).size > MAX_FILE_BYTES) return undefined;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const lines = ((await readIfThere(path)) ?? "").split("\n");
  const head = headIn(parse(lines[0] ?? ""), url, lines.length - 2);
  if (!head || lines.at(-1) !== "") return undefined;
  const servers = new Map<string, ServerJson>();
  for (let at = 1; at < lines.length - 1; at++) {
    if (at % SERVERS_PER_TURN === 0) await turn();
    const server = readServer(parse(lines[at] as string));
    if ("reason" in server) return undefined;
    servers.set(server.name, server);
  }
  return { head, servers };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function headIn(value: unknown, { href }: URL, count: number): MirrorHead | undefined {
  if (!isKeys(value) || value["format"] !== FORMAT || value["base"] !== href || value["count"] !== count)
    return undefined;
  const { since, checkedAt, wholeAt, cursor, etag } = value;
  if (typeof since !== "string" || Number.isNaN(Date.parse(since))) return undefined;
  const { url, tag } = isKeys(etag) ? etag : {};
  return {
    since,
    checkedAt: typeof checkedAt === "number" ? checkedAt : undefined,
    wholeAt: typeof wholeAt === "number" ? wholeAt : undefined,
    cursor: typeof cursor === "string" ? cursor : undefined,
    etag: typeof url === "string" && typeof tag === "string" ? { url, tag } : undefined,
  };
}

/** Resolves with the number of servers beyond the size limits, which were left out. */
export async function writeMirror(
  path: string,
  { url }: Base,
  { head, servers }: RegistryMirror,
): Promise<number> {
  const lines: string[] = [];
  let size = 0;
  for (const server of servers.values()) {
    if (lines.length % SERVERS_PER_TURN === 0) await turn();
    const line = JSON.stringify(server);
    size += line.length * 2;
    if (lines.length >= MAX_SERVERS || size > MAX_FILE_BYTES) break;
    lines.push(line);
  }
  const first = JSON.stringify({ format: FORMAT, base: url.href, count: lines.length, ...head });
  await writeAtomic(path, `${[first, ...lines].join("\n")}\n`, { durable: false });
  return servers.size - lines.length;
}
