/** A registry's list on disk: a line about it, then a line for each server, read and written in portions that hold nobody up. A file that is not whole is none. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";
import { isKeys } from "../../config/field.ts";
import { isAbsent, readIfThere, writeAtomic } from "../../home/file.ts";
import { safeName } from "../../home/safe-name.ts";
import type { Base } from "./base.ts";
import { readServer, type ServerJson } from "./server-json.ts";

/** What is known about the list as a whole. */
export interface Head {
  /** Changes from then on are not in it yet, by the registry's own clock. */
  readonly since: string;
  /** When it was last brought up to date, in ms; undefined while it never was. */
  readonly checkedAt?: number | undefined;
  /** When all of it was last read, in ms. */
  readonly wholeAt?: number | undefined;
  /** Where to go on, if it was never read to its end. */
  readonly cursor?: string | undefined;
  readonly etag?: { readonly url: string; readonly tag: string } | undefined;
}

export interface RegistryMirror {
  readonly head: Head;
  readonly servers: ReadonlyMap<string, ServerJson>;
}

/** Another text means that we cannot read it. */
const FORMAT = "metamcp registry 1";
const LARGEST_FILE = 96 << 20;
const MOST_SERVERS = 60_000;
const PORTION = 400;

export function mirrorPath(home: string, { url }: Base): string {
  return join(home, "registry", `${safeName(`${url.host}${url.pathname}`.replace(/\/$/, ""))}.jsonl`);
}

/** Undefined if there is none that can be used. */
export async function readMirror(path: string, { url }: Base): Promise<RegistryMirror | undefined> {
  try {
    if ((await stat(path)).size > LARGEST_FILE) return undefined;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const lines = ((await readIfThere(path)) ?? "").split("\n");
  const head = headIn(parse(lines[0] ?? ""), url, lines.length - 2);
  if (!head || lines.at(-1) !== "") return undefined;
  const servers = new Map<string, ServerJson>();
  for (let at = 1; at < lines.length - 1; at++) {
    if (at % PORTION === 0) await breath();
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

function headIn(value: unknown, { href }: URL, count: number): Head | undefined {
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

/** Resolves with the number of servers for which there was no room. */
export async function writeMirror(
  path: string,
  { url }: Base,
  { head, servers }: RegistryMirror,
): Promise<number> {
  const lines: string[] = [];
  let size = 0;
  for (const server of servers.values()) {
    if (lines.length % PORTION === 0) await breath();
    const line = JSON.stringify(server);
    size += line.length * 2;
    if (lines.length >= MOST_SERVERS || size > LARGEST_FILE) break;
    lines.push(line);
  }
  const first = JSON.stringify({ format: FORMAT, base: url.href, count: lines.length, ...head });
  await writeAtomic(path, `${[first, ...lines].join("\n")}\n`, { durable: false });
  return servers.size - lines.length;
}
