/**
 * Posting lists: for each term the tools that contain it, and how much of it (its impact). An entry is one
 * number: the slot in the high bits, the impact in the low ones.
 */

const IMPACT_BITS = 12;
const LEVELS = (1 << IMPACT_BITS) - 1;
export const MAX_SLOTS = 2 ** (32 - IMPACT_BITS);

interface List {
  entries: Uint32Array;
  length: number;
}

export class Postings {
  readonly #lists: (List | undefined)[] = [];

  /** `impact` is in 0..1. */
  add(term: number, slot: number, impact: number): void {
    let list = this.#lists[term];
    if (!list) {
      while (this.#lists.length <= term) this.#lists.push(undefined);
      list = { entries: new Uint32Array(2), length: 0 };
      this.#lists[term] = list;
    }
    if (list.length === list.entries.length) {
      const larger = new Uint32Array(Math.ceil(list.length * 1.5) + 1);
      larger.set(list.entries);
      list.entries = larger;
    }
    list.entries[list.length++] = slot * (LEVELS + 1) + Math.max(1, Math.round(impact * LEVELS));
  }

  /** Removes the entries whose slot is 1 in `removed`. Returns how many entries it checked. */
  remove(term: number, removed: Uint8Array): number {
    const list = this.#lists[term];
    if (!list) return 0;
    const { length } = list;
    let kept = 0;
    for (let i = 0; i < length; i++) {
      const entry = list.entries[i] as number;
      if (removed[entry >>> IMPACT_BITS] === 0) list.entries[kept++] = entry;
    }
    list.length = kept;
    if (kept === 0) this.#lists[term] = undefined;
    else if (kept * 4 < list.entries.length) list.entries = list.entries.slice(0, kept);
    return length;
  }

  /** Whether one of the tools that contain the term passes the test. */
  some(term: number, test: (slot: number) => boolean): boolean {
    const list = this.#lists[term];
    for (let i = 0; list && i < list.length; i++) {
      if (test((list.entries[i] as number) >>> IMPACT_BITS)) return true;
    }
    return false;
  }

  /** How many tools contain the term. `mask` has 1 for those in view. */
  count(term: number, mask: Uint8Array | undefined): number {
    const list = this.#lists[term];
    if (!list) return 0;
    if (!mask) return list.length;
    let count = 0;
    for (let i = 0; i < list.length; i++)
      count += mask[(list.entries[i] as number) >>> IMPACT_BITS] as number;
    return count;
  }

  /** Adds `weight` times the impact to the score of each tool that contains the term. */
  accumulate(term: number, weight: number, scores: Float64Array): void {
    const list = this.#lists[term];
    if (!list) return;
    const unit = weight / LEVELS;
    const { entries, length } = list;
    for (let i = 0; i < length; i++) {
      const entry = entries[i] as number;
      const slot = entry >>> IMPACT_BITS;
      scores[slot] = (scores[slot] as number) + (entry & LEVELS) * unit;
    }
  }

  /**
   * Adds `weight` to the score of each tool that contains the term, regardless of the impact. `best` is as in
   * `accumulateBest`.
   */
  addPresence(term: number, weight: number, scores: Float64Array, best: Float64Array | undefined): void {
    const list = this.#lists[term];
    for (let i = 0; list && i < list.length; i++) {
      const slot = (list.entries[i] as number) >>> IMPACT_BITS;
      const more = weight - (best ? (best[slot] as number) : 0);
      if (more <= 0) continue;
      if (best) best[slot] = weight;
      scores[slot] = (scores[slot] as number) + more;
    }
  }

  /**
   * Like `accumulate`, but of several terms only the best counts for a tool. `best` has what the terms so far
   * gave to each tool.
   */
  accumulateBest(term: number, weight: number, scores: Float64Array, best: Float64Array): void {
    const list = this.#lists[term];
    if (!list) return;
    const unit = weight / LEVELS;
    const { entries, length } = list;
    for (let i = 0; i < length; i++) {
      const entry = entries[i] as number;
      const slot = entry >>> IMPACT_BITS;
      const more = (entry & LEVELS) * unit - (best[slot] as number);
      if (more <= 0) continue;
      best[slot] = (best[slot] as number) + more;
      scores[slot] = (scores[slot] as number) + more;
    }
  }
}
