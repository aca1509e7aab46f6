/**
 * Ids of lists in the search index. A per-account list is identified by a hash of its content, so that equal
 * lists of several accounts share one entry.
 */
import { createHash } from "node:crypto";
import type { ServerId } from "../kernel/call.ts";
import type { Listing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

const hashes = new WeakMap<readonly Tool[], string>();
const ids = new WeakMap<object, string>();

/** A hash of the definitions as written. */
export function hashOf(tools: readonly Tool[]): string {
  let known = hashes.get(tools);
  if (known === undefined) {
    const hash = createHash("sha256");
    for (const { definition } of tools) hash.update(definition).update("\n");
    known = hash.digest("base64url");
    hashes.set(tools, known);
  }
  return known;
}

/** The id of a shared list is the server id. */
export function searchId(server: ServerId, listing: Pick<Listing, "own" | "tools" | "about">): string {
  if (!listing.own) return server;
  let id = ids.get(listing);
  if (id === undefined) {
    const { title, instructions } = listing.about;
    const content = createHash("sha256").update(JSON.stringify([hashOf(listing.tools), title, instructions]));
    id = `${server}/@${content.digest("base64url").slice(0, 22)}`;
    ids.set(listing, id);
  }
  return id;
}
