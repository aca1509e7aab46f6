/** Who may share a connection to one child: those who agree in credential, capabilities and roots. */
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import type { KnownRoots } from "../kernel/roots.ts";

/** Roots are one client's own answer, so they stand for its capabilities too. */
const rooted = new WeakMap<KnownRoots, string>();

/** With isolation nobody shares. Every call comes by. */
export function keyOf(origin: Origin, { isolation }: ServerSpec): string {
  if (isolation === "session") return origin.session;
  const roots = origin.roots?.known;
  return roots ? rootedKeyOf(origin, roots) : listKeyOf(origin);
}

/** The same for a client that has these roots. */
export function rootedKeyOf(origin: Pick<Origin, "capabilities">, roots: KnownRoots): string {
  let key = rooted.get(roots);
  if (key === undefined) {
    key = `${listKeyOf(origin)} ${roots.key}`;
    rooted.set(roots, key);
  }
  return key;
}
