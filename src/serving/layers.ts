/**
 * Opens the layers of a gateway: their registry of layers, the compiled layers, and the queue for approvals.
 */
import type { Compiled } from "../gateway/compile.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import type { Clock } from "../kernel/clock.ts";
import type { SharedCounts } from "../kernel/counts.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import { BUILT_IN } from "../middleware/built-in.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import { CustomLayers } from "../middleware/custom-layers.ts";
import type { Recording } from "../middleware/layer.ts";
import { LayerRegistry } from "../middleware/registry.ts";
import type { Store } from "../store/store.ts";
import { ApprovalQueue } from "./approvals/approval-queue.ts";
import type { Holders } from "./approvals/holder-lease.ts";
import { newId } from "./live/change-context.ts";
import { checkStoredLayers } from "./live/stored-layers.ts";
import { openReads } from "./shared/stored-reads.ts";

export interface LayersParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  /** The folder with the operator's own layers. */
  readonly middlewareDir: string | undefined;
  readonly compiled: () => Compiled;
  readonly recording: Recording;
  /** The id of this gateway among those on the store. */
  readonly replica: string | undefined;
  readonly holders: Holders | undefined;
  readonly counts: SharedCounts | undefined;
}

export interface GatewayLayers {
  readonly layers: LayerRegistry;
  readonly compiledLayers: CompiledLayers;
  readonly approvals: ApprovalQueue;
}

/** Rejects if a stored object has an invalid layer. */
export async function openLayers(parts: LayersParts): Promise<GatewayLayers> {
  const { store, clock, middlewareDir, compiled, recording, counts } = parts;
  const layers = new LayerRegistry(BUILT_IN, await loadValidator(), new CustomLayers(middlewareDir));
  await checkStoredLayers(layers, compiled().objects);
  const approvals = new ApprovalQueue({
    ...parts,
    shared: store.shared,
    newId,
    endpointName: (uuid) => compiled().endpoints.get(uuid)?.object.name,
  });
  await approvals.load();
  const reads = await openReads(store);
  const compiledLayers = new CompiledLayers(layers, { clock, approvals, recording, reads }, counts);
  return { layers, compiledLayers, approvals };
}
