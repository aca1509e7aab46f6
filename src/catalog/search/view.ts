/** The part of the catalog a caller may see. Everything counted for an answer is counted inside it. */
import type { Collection } from "./collection.ts";
import type { SearchOptions } from "./strategy.ts";

export interface SearchView {
  /** 1 for each slot in sight; undefined when everything is and no slot is empty. */
  readonly mask: Uint8Array | undefined;
  readonly size: number;
}

export function viewOf(collection: Collection, scope: SearchOptions["scope"]): SearchView {
  const { size: all, capacity } = collection;
  if (!scope && all === capacity) return { mask: undefined, size: all };
  const mask = new Uint8Array(capacity);
  let size = 0;
  for (const { segment, slots } of collection.servers) {
    for (let i = 0; i < slots.length; i++) {
      if (scope && !scope(segment.server, segment.names[i] as string)) continue;
      mask[slots[i] as number] = 1;
      size++;
    }
  }
  return { mask, size };
}

/** What a term is worth that this many of the tools in view hold. */
export function rarity(count: number, { size }: SearchView): number {
  return Math.log(1 + (size - count + 0.5) / (count + 0.5));
}
