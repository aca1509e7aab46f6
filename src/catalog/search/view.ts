/** The part of the catalog a caller may see. Everything counted for an answer is counted inside it. */
import type { Collection } from "./collection.ts";
import type { Postings } from "./postings.ts";
import type { SearchOptions } from "./strategy.ts";

/** Lasts for one question. */
export class SearchView {
  /** 1 for each slot in sight; undefined when everything is and no slot is empty. */
  readonly mask: Uint8Array | undefined;
  readonly size: number;
  readonly #postings: Postings;
  readonly #worths = new Map<number, number>();

  constructor(mask: Uint8Array | undefined, size: number, postings: Postings) {
    this.mask = mask;
    this.size = size;
    this.#postings = postings;
  }

  /** How many tools hold the term. */
  count(term: number): number {
    return this.#postings.count(term, this.mask);
  }

  /** What a term is worth that this many tools hold: the rarer the more. */
  rarity(count: number): number {
    return Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
  }

  /** What the term is worth; counted once. */
  worthOf(term: number): number {
    let worth = this.#worths.get(term);
    if (worth === undefined) {
      worth = this.rarity(this.count(term));
      this.#worths.set(term, worth);
    }
    return worth;
  }
}

export function viewOf(collection: Collection, scope: SearchOptions["scope"]): SearchView {
  const { size: all, capacity, postings } = collection;
  if (!scope && all === capacity) return new SearchView(undefined, all, postings);
  const mask = new Uint8Array(capacity);
  let size = 0;
  for (const { segment, slots } of collection.servers) {
    for (let i = 0; i < slots.length; i++) {
      if (scope && !scope(segment.server, segment.names[i] as string)) continue;
      mask[slots[i] as number] = 1;
      size++;
    }
  }
  return new SearchView(mask, size, postings);
}
