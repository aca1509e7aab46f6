/** The compiled layers of a list of objects: gateway, endpoint, namespace, server. */

import type { CompiledLayers } from "../../middleware/compiled-layers.ts";
import type { LayerEntry, PlacedLayer } from "../../middleware/layer.ts";
import type { StoredObject } from "../objects.ts";

export type LayerOwner = StoredObject<"settings" | "endpoint" | "namespace" | "server"> | undefined;

/** Outermost first. */
export function placedLayers(
  compiledLayers: Pick<CompiledLayers, "of">,
  owners: readonly LayerOwner[],
): readonly PlacedLayer[] {
  return owners.flatMap((owner) => {
    if (!owner) return [];
    const { kind, name, uuid, spec } = owner;
    const at = kind === "settings" ? "the gateway" : `${kind} "${name}"`;
    return compiledLayers.of(uuid, at, spec.middleware as readonly LayerEntry[]);
  });
}
