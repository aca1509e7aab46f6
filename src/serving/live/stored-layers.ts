/** Loads and checks the layers of stored objects at start. */
import { checkingLayers } from "../../gateway/accept.ts";
import { orderProblems } from "../../gateway/layer-order.ts";
import { allObjects, type Objects } from "../../gateway/objects.ts";
import { atOnce } from "../../kernel/steps.ts";
import type { LayerEntry } from "../../middleware/layer.ts";
import type { LayerRegistry } from "../../middleware/registry.ts";

export function layersIn(objects: Objects): readonly LayerEntry[] {
  return allObjects(objects).flatMap(({ spec }) => spec.middleware as readonly LayerEntry[]);
}

/** Throws with the place of the first invalid layer: a gateway must not start without some of its rules. */
export async function checkStoredLayers(registry: LayerRegistry, objects: Objects): Promise<void> {
  await registry.prepare(layersIn(objects));
  const rules = { layers: (entry: LayerEntry) => registry.check(entry) };
  for (const { kind, name, spec } of allObjects(objects)) {
    const [wrong] = atOnce(checkingLayers(kind, { ...spec }, rules as never));
    if (wrong) throw new Error(`${kind} "${name}" ${wrong.path}: ${wrong.message}`);
  }
  const [disordered] = orderProblems(objects, registry);
  if (disordered) throw new Error(disordered.message);
}
