/** Tells that a client was shown a short list in place of all tools, and how long that one would be. */
import type { Snapshot } from "../catalog/snapshot.ts";
import { callerOf } from "../kernel/call.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

const known = new WeakMap<Snapshot, number>();

export function tellListed(scope: Scope, { origin }: ClientRequest, shown: Raw): void {
  const { events } = scope;
  // Whoever only looks what clients see saves nobody anything.
  if (!events.heard || origin.surface === "preview") return;
  const { snapshot } = scope.view(origin);
  let allBytes = known.get(snapshot);
  if (allBytes === undefined) {
    allBytes = 0;
    for (const { tools } of snapshot.listings.values())
      for (const { definition } of tools) allBytes += definition.length;
    known.set(snapshot, allBytes);
  }
  const { endpoint, sessionless = false } = origin;
  const about = { endpoint, caller: callerOf(origin), sessionless };
  events.emit({ type: "listed", at: Date.now(), ...about, shownBytes: shown.length, allBytes });
}
