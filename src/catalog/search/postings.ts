/** For each term the tools that hold it, with how much. One number per entry: slot in the high bits, impact in the low. */

const IMPACT_BITS = 12;
const LEVELS = (1 << IMPACT_BITS) - 1;
export const MOST_SLOTS = 2 ** (32 - IMPACT_BITS);

interface List {
  entries: Uint32Array;
  length: number;
}

export class Postings {
  readonly #lists: (List | undefined)[] = [];

  /** `impact` in 0..1. */
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

  /** Takes out every entry whose slot is marked in `gone`; returns how many it looked at. */
  remove(term: number, gone: Uint8Array): number {
    const list = this.#lists[term];
    if (!list) return 0;
    const { length } = list;
    let kept = 0;
    for (let i = 0; i < length; i++) {
      const entry = list.entries[i] as number;
      if (gone[entry >>> IMPACT_BITS] === 0) list.entries[kept++] = entry;
    }
    list.length = kept;
    if (kept === 0) this.#lists[term] = undefined;
    else if (kept * 4 < list.entries.length) list.entries = list.entries.slice(0, kept);
    return length;
  }

  /** Whether one of the tools that hold the term passes. */
  some(term: number, test: (slot: number) => boolean): boolean {
    const list = this.#lists[term];
    for (let i = 0; list && i < list.length; i++) {
      if (test((list.entries[i] as number) >>> IMPACT_BITS)) return true;
    }
    return false;
  }

  /** How many tools in scope hold the term. */
  count(term: number, mask: Uint8Array | undefined): number {
    const list = this.#lists[term];
    if (!list) return 0;
    if (!mask) return list.length;
    let count = 0;
    for (let i = 0; i < list.length; i++)
      count += mask[(list.entries[i] as number) >>> IMPACT_BITS] as number;
    return count;
  }

  /** Adds `weight` times the impact to the score of every tool that holds the term. */
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

  /** Adds `weight` once for every tool that holds the term, however much of it; with `peaks` as in `accumulateBest`. */
  mark(term: number, weight: number, scores: Float64Array, peaks: Float64Array | undefined): void {
    const list = this.#lists[term];
    for (let i = 0; list && i < list.length; i++) {
      const slot = (list.entries[i] as number) >>> IMPACT_BITS;
      const more = weight - (peaks ? (peaks[slot] as number) : 0);
      if (more <= 0) continue;
      if (peaks) peaks[slot] = weight;
      scores[slot] = (scores[slot] as number) + more;
    }
  }

  /** The same, but a tool gets no more than the best of several terms gives it: `peaks` remembers what it has. */
  accumulateBest(term: number, weight: number, scores: Float64Array, peaks: Float64Array): void {
    const list = this.#lists[term];
    if (!list) return;
    const unit = weight / LEVELS;
    const { entries, length } = list;
    for (let i = 0; i < length; i++) {
      const entry = entries[i] as number;
      const slot = entry >>> IMPACT_BITS;
      const more = (entry & LEVELS) * unit - (peaks[slot] as number);
      if (more <= 0) continue;
      peaks[slot] = (peaks[slot] as number) + more;
      scores[slot] = (scores[slot] as number) + more;
    }
  }
}
