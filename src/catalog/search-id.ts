/**
 * Ids of lists in the search index. A per-account list is identified by a hash of its content, so that equal
 * lists of several accounts share one entry.
 */
import { createHash } from "node:crypto";
import type { ServerId } from "../kernel/call.ts";
import { perObject } from "../kernel/per-object.ts";
import type { Listing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

const ids = new WeakMap<object, string>();

/** A hash of the definitions as written. */
export const hashOf = perObject((tools: readonly Tool[]): string => {
  const hash = createHash("sha256");
  for (const { definition } of tools) hash.update(definition).update("\n");
  return hash.digest("base64url");
});

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
