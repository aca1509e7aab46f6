/** A short name for all that can be searched: the same for the same content, however it came about. */
import { createHash } from "node:crypto";
import type { Listing, Snapshot } from "../../catalog/catalog.ts";
import type { Tool } from "../../catalog/tool.ts";

// Parts of a snapshot that did not change are the same objects in the next one.
const ofTools = new WeakMap<readonly Tool[], string>();
const ofSnapshot = new WeakMap<Snapshot, string>();

export function contentMark(snapshot: Snapshot): string {
  let mark = ofSnapshot.get(snapshot);
  if (mark === undefined) {
    const servers = [...snapshot.listings].map(([server, listing]) => [
      server,
      markOf(listing),
      listing.about.title,
      listing.about.instructions,
    ]);
    mark = digest([JSON.stringify(servers.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)))]);
    ofSnapshot.set(snapshot, mark);
  }
  return mark;
}

function markOf({ tools }: Listing): string {
  let mark = ofTools.get(tools);
  if (mark === undefined) {
    mark = digest([...tools].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ definition }) => definition));
    ofTools.set(tools, mark);
  }
  return mark;
}

export function digest(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // Lengths in between: two texts never run into one.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url").slice(0, 22);
}
