/**
 * The tools that a caller may see. All statistics of a search count only these, so hidden tools do not change
 * the result.
 */
import type { Collection } from "./collection.ts";
import type { Postings } from "./postings.ts";
import type { SearchOptions } from "./strategy.ts";

/** Made for one search. */
export class SearchView {
  /** 1 for each slot in view; undefined if all tools are in view and no slot is empty. */
  readonly mask: Uint8Array | undefined;
  readonly size: number;
  readonly #postings: Postings;
  readonly #idfs = new Map<number, number>();

  constructor(mask: Uint8Array | undefined, size: number, postings: Postings) {
    this.mask = mask;
    this.size = size;
    this.#postings = postings;
  }

  /** How many tools in view contain the term. */
  count(term: number): number {
    return this.#postings.count(term, this.mask);
  }

  /** Inverse document frequency of a term that this many tools contain: the rarer the term, the higher. */
  idfOfCount(count: number): number {
    return Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
  }

  /** Inverse document frequency of the term; computed once per search. */
  idf(term: number): number {
    let idf = this.#idfs.get(term);
    if (idf === undefined) {
      idf = this.idfOfCount(this.count(term));
      this.#idfs.set(term, idf);
    }
    return idf;
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
