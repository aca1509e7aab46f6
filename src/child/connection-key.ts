/**
 * The key of a connection to one child. Clients with the same capabilities and the same roots have the same key and share the
 * connection. The credential is not part of it: all clients of one child use the same.
 */
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import type { KnownRoots } from "../kernel/roots.ts";

/** A `KnownRoots` object is the answer of one client, so it determines the capabilities too. */
const rooted = new WeakMap<KnownRoots, string>();

/** With isolation each session has its own key. Runs for every call. */
export function keyOf(origin: Origin, { isolation }: ServerSpec): string {
  if (isolation === "session") return origin.session;
  const roots = origin.roots?.known;
  return roots ? rootedKeyOf(origin, roots) : listKeyOf(origin);
}

/** The key of a client with these roots. */
export function rootedKeyOf(origin: Pick<Origin, "capabilities">, roots: KnownRoots): string {
  let key = rooted.get(roots);
  if (key === undefined) {
    key = `${listKeyOf(origin)} ${roots.key}`;
    rooted.set(roots, key);
  }
  return key;
}
