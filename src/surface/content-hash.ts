/**
 * Hashes the searchable content of a snapshot. Equal content has an equal hash, regardless of the order of
 * servers and tools.
 */
import { createHash } from "node:crypto";
import type { Listing, Snapshot } from "../catalog/catalog.ts";
import type { Tool } from "../catalog/tool.ts";

// Cached by object: unchanged parts of a snapshot are the same objects in the next one.
const toolHashes = new WeakMap<readonly Tool[], string>();
const listHashes = new WeakMap<readonly Tool[], string>();
const snapshotHashes = new WeakMap<Snapshot, string>();

export function contentHash(snapshot: Snapshot): string {
  let hash = snapshotHashes.get(snapshot);
  if (hash === undefined) {
    const servers = [...snapshot.listings].map(([server, listing]) => [
      server,
      toolsHash(listing),
      listing.about.title,
      listing.about.instructions,
    ]);
    hash = digest([JSON.stringify(servers.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)))]);
    snapshotHashes.set(snapshot, hash);
  }
  return hash;
}

function toolsHash({ tools }: Listing): string {
  let hash = toolHashes.get(tools);
  if (hash === undefined) {
    hash = digest([...tools].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ definition }) => definition));
    toolHashes.set(tools, hash);
  }
  return hash;
}

/** The same only for the same tools in the same order. */
export function listHash(tools: readonly Tool[]): string {
  let hash = listHashes.get(tools);
  if (hash === undefined) {
    hash = digest(tools.map(({ definition }) => definition));
    listHashes.set(tools, hash);
  }
  return hash;
}

export function digest(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // Each part is preceded by its length, so that different parts never give the same bytes.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url").slice(0, 22);
}
