/** The compiled layers of all objects. An unchanged entry keeps its layer, and so its counts, even if it moves in the list. */
import type { LayerContext, LayerEntry, PlacedLayer } from "./layer.ts";
import type { LayerRegistry } from "./registry.ts";

interface OwnerLayers {
  readonly entries: readonly LayerEntry[];
  readonly layers: readonly PlacedLayer[];
}

const NONE: readonly PlacedLayer[] = [];

export class CompiledLayers {
  readonly #registry: LayerRegistry;
  readonly #context: LayerContext;
  /** By the id of the object. */
  readonly #byOwner = new Map<string, OwnerLayers>();

  constructor(registry: LayerRegistry, context: LayerContext) {
    this.#registry = registry;
    this.#context = context;
  }

  /** The layers of one object. `owner` is its id, `at` its description for people. */
  of(owner: string, at: string, entries: readonly LayerEntry[]): readonly PlacedLayer[] {
    const known = this.#byOwner.get(owner);
    if (known?.entries === entries) return known.layers;
    if (entries.length === 0 && !known) return NONE;
    const reusable = new Map<string, PlacedLayer[]>();
    for (const [index, entry] of known?.entries.entries() ?? []) {
      const layer = known?.layers[index];
      const key = JSON.stringify(entry);
      if (layer) reusable.set(key, [...(reusable.get(key) ?? []), layer]);
    }
    const layers = entries.map((entry): PlacedLayer => {
      const old = reusable.get(JSON.stringify(entry))?.shift();
      return old?.at === at
        ? old
        : { ...(old ?? this.#registry.compile(entry, this.#context)), use: entry.use, at };
    });
    this.#byOwner.set(owner, { entries, layers });
    return layers;
  }

  /** Drops the layers of all other objects. */
  keep(owners: ReadonlySet<string>): void {
    for (const owner of this.#byOwner.keys()) if (!owners.has(owner)) this.#byOwner.delete(owner);
  }
}
