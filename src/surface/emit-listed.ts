/** Emits the event `listed`: a client got a short list instead of all tools, with the sizes of both. */
import type { Snapshot } from "../catalog/snapshot.ts";
import { callerOf } from "../kernel/call.ts";
import { perObject } from "../kernel/per-object.ts";
import type { Raw } from "../kernel/raw.ts";
import { listBytes, toolBytes } from "../rpc/model-bytes.ts";
import type { ScopeCalls, ScopeCatalog } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** What a model would get of all tools, by snapshot. */
const bytesOf = perObject(({ listings }: Snapshot): number => {
  let bytes = 0;
  for (const { tools } of listings.values()) for (const tool of tools) bytes += toolBytes(tool);
  return bytes;
});

export function emitListed(scope: ScopeCatalog & ScopeCalls, { origin }: ClientRequest, shown: Raw): void {
  const { events } = scope;
  // A preview is not a client's list, so it saves no tokens.
  if (!events.hasListeners || origin.surface === "preview") return;
  const allBytes = bytesOf(scope.view(origin).snapshot);
  const { endpoint, sessionless = false } = origin;
  const about = { endpoint, caller: callerOf(origin), sessionless };
  events.emit({ type: "listed", at: Date.now(), ...about, shownBytes: listBytes(shown), allBytes });
}
