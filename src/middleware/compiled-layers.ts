/**
 * The compiled layers of all objects. An unchanged entry keeps its layer, and so its counts, even if it moves
 * in the list.
 */
import type { SharedCounts } from "../kernel/counts.ts";
import type { Layer, LayerContext, LayerEntry, PlacedLayer } from "./layer.ts";
import type { LayerRegistry } from "./registry.ts";

interface OwnerLayers {
  readonly entries: readonly LayerEntry[];
  readonly layers: readonly PlacedLayer[];
}

const NONE: readonly PlacedLayer[] = [];

export class CompiledLayers {
  readonly #registry: LayerRegistry;
  readonly #context: Omit<LayerContext, "shared">;
  readonly #counts: SharedCounts | undefined;
  /** By the id of the object. */
  readonly #byOwner = new Map<string, OwnerLayers>();

  /** `counts`: those of all replicas; undefined for a process that is alone. */
  constructor(registry: LayerRegistry, context: Omit<LayerContext, "shared">, counts?: SharedCounts) {
    this.#registry = registry;
    this.#context = context;
    this.#counts = counts;
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
    const layers = entries.map((entry, index): PlacedLayer => {
      const old = reusable.get(JSON.stringify(entry))?.shift();
      if (old?.at === at) return old;
      return { ...(old ?? this.#compile(owner, entries, index)), use: entry.use, at };
    });
    this.#byOwner.set(owner, { entries, layers });
    return layers;
  }

  #compile(owner: string, entries: readonly LayerEntry[], index: number): Layer {
    const counts = this.#counts;
    return this.#registry.compile(entries[index] as LayerEntry, {
      ...this.#context,
      place: owner,
      shared: counts && { counts, place: placeOf(owner, entries, index) },
    });
  }

  /** Drops the layers of all other objects. */
  keep(owners: ReadonlySet<string>): void {
    for (const owner of this.#byOwner.keys()) if (!owners.has(owner)) this.#byOwner.delete(owner);
  }
}

/** Names an entry in the same way at each replica. Of equal entries each has a place of its own. */
function placeOf(owner: string, entries: readonly LayerEntry[], index: number): string {
  const entry = JSON.stringify(entries[index]);
  const nth = entries.slice(0, index).filter((other) => JSON.stringify(other) === entry).length;
  return `${owner} ${nth} ${entry}`;
}
