/** The layers of a gateway: which there are, those of its objects, and where calls wait for somebody else. */
import type { Compiled } from "../gateway/compile.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import { BUILT_IN } from "../middleware/built-in.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import { OwnLayers } from "../middleware/own-layers.ts";
import { LayerRegistry } from "../middleware/registry.ts";
import type { Store } from "../store/store.ts";
import { ApprovalDesk } from "./approvals/approval-desk.ts";
import { newId } from "./change-context.ts";
import { refuseLayers } from "./layer-start.ts";

export interface PipelineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  /** Where layers of one's own are. */
  readonly middlewareDir: string | undefined;
  readonly compiled: () => Compiled;
  /** Whether what is done now can be recorded. */
  readonly recordable: () => boolean;
}

export interface Pipeline {
  readonly layers: LayerRegistry;
  readonly compiledLayers: CompiledLayers;
  readonly approvals: ApprovalDesk;
}

/** Rejects where a stored object has a layer that cannot be used. */
export async function openPipeline(parts: PipelineParts): Promise<Pipeline> {
  const { store, clock, middlewareDir, compiled, recordable } = parts;
  const layers = new LayerRegistry(BUILT_IN, await loadValidator(), new OwnLayers(middlewareDir));
  await refuseLayers(layers, compiled().objects);
  const approvals = new ApprovalDesk({
    ...parts,
    shared: store.shared,
    newId,
    endpointName: (uuid) => compiled().endpoints.get(uuid)?.object.name,
  });
  await approvals.load();
  return { layers, compiledLayers: new CompiledLayers(layers, { clock, approvals, recordable }), approvals };
}
