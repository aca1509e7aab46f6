/** Opens the pipeline of a gateway: the registry of layers, the compiled layers, and the queue for approvals. */
import type { Compiled } from "../gateway/compile.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import { BUILT_IN } from "../middleware/built-in.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import type { Recording } from "../middleware/layer.ts";
import { OwnLayers } from "../middleware/own-layers.ts";
import { LayerRegistry } from "../middleware/registry.ts";
import type { Store } from "../store/store.ts";
import { ApprovalQueue } from "./approvals/approval-queue.ts";
import { newId } from "./change-context.ts";
import { checkStoredLayers } from "./stored-layers.ts";

export interface PipelineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  /** The folder with the operator's own layers. */
  readonly middlewareDir: string | undefined;
  readonly compiled: () => Compiled;
  readonly recording: Recording;
}

export interface Pipeline {
  readonly layers: LayerRegistry;
  readonly compiledLayers: CompiledLayers;
  readonly approvals: ApprovalQueue;
}

/** Rejects if a stored object has an invalid layer. */
export async function openPipeline(parts: PipelineParts): Promise<Pipeline> {
  const { store, clock, middlewareDir, compiled, recording } = parts;
  const layers = new LayerRegistry(BUILT_IN, await loadValidator(), new OwnLayers(middlewareDir));
  await checkStoredLayers(layers, compiled().objects);
  const approvals = new ApprovalQueue({
    ...parts,
    shared: store.shared,
    newId,
    endpointName: (uuid) => compiled().endpoints.get(uuid)?.object.name,
  });
  await approvals.load();
  return { layers, compiledLayers: new CompiledLayers(layers, { clock, approvals, recording }), approvals };
}
