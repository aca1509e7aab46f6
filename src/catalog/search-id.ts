/** What a list is searched under where it is that of one account: by what it says, so that accounts that are told the same are searched as one. */
import { createHash } from "node:crypto";
import type { ServerId } from "../kernel/call.ts";
import type { Listing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

const marks = new WeakMap<readonly Tool[], string>();
const ids = new WeakMap<object, string>();

/** The same for lists that are written the same. */
export function markOf(tools: readonly Tool[]): string {
  let mark = marks.get(tools);
  if (mark === undefined) {
    const hash = createHash("sha256");
    for (const { definition } of tools) hash.update(definition).update("\n");
    mark = hash.digest("base64url");
    marks.set(tools, mark);
  }
  return mark;
}

/** What everybody shares is searched under the server itself. */
export function searchId(server: ServerId, listing: Pick<Listing, "own" | "tools" | "about">): string {
  if (!listing.own) return server;
  let id = ids.get(listing);
  if (id === undefined) {
    const { title, instructions } = listing.about;
    const said = createHash("sha256").update(JSON.stringify([markOf(listing.tools), title, instructions]));
    id = `${server}/@${said.digest("base64url").slice(0, 22)}`;
    ids.set(listing, id);
  }
  return id;
}
