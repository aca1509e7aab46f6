/** Layers by the object they belong to. An entry that did not change keeps its layer, and so its counts, wherever it stands in the list. */
import type { LayerContext, LayerEntry, PlacedLayer } from "./layer.ts";
import type { LayerRegistry } from "./registry.ts";

interface Stocked {
  readonly entries: readonly LayerEntry[];
  readonly layers: readonly PlacedLayer[];
}

const NONE: readonly PlacedLayer[] = [];

export class LayerStock {
  readonly #registry: LayerRegistry;
  readonly #context: LayerContext;
  /** By the id of the object. */
  readonly #stock = new Map<string, Stocked>();

  constructor(registry: LayerRegistry, context: LayerContext) {
    this.#registry = registry;
    this.#context = context;
  }

  of(owner: string, at: string, entries: readonly LayerEntry[]): readonly PlacedLayer[] {
    const known = this.#stock.get(owner);
    if (known?.entries === entries) return known.layers;
    if (entries.length === 0 && !known) return NONE;
    const free = new Map<string, PlacedLayer[]>();
    for (const [index, entry] of known?.entries.entries() ?? []) {
      const layer = known?.layers[index];
      const key = JSON.stringify(entry);
      if (layer) free.set(key, [...(free.get(key) ?? []), layer]);
    }
    const layers = entries.map((entry): PlacedLayer => {
      const old = free.get(JSON.stringify(entry))?.shift();
      return old?.at === at
        ? old
        : { ...(old ?? this.#registry.compile(entry, this.#context)), use: entry.use, at };
    });
    this.#stock.set(owner, { entries, layers });
    return layers;
  }

  /** Forgets the layers of objects that are gone. */
  keep(owners: ReadonlySet<string>): void {
    for (const owner of this.#stock.keys()) if (!owners.has(owner)) this.#stock.delete(owner);
  }
}
