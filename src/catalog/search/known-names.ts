/**
 * Tells which tools have a name that the examples have. Where they know most names, search is right more
 * often, so the confidence depends on it.
 */
import type { Collection } from "./collection.ts";
import type { KeyTable } from "./key-table.ts";
import type { Lexicon } from "./lexicon.ts";
import { fieldEnd, fieldStart, type Segment } from "./segment.ts";
import { stem } from "./stem.ts";
import { contentWords } from "./words.ts";

const DIGIT = /^[0-9]/;

/** Names with the same stems in any order have the same key. Numbers do not count. */
export function nameKey(name: string): string {
  return keyOf(contentWords(name));
}

function keyOf(words: readonly string[]): string {
  const stems = words.filter((word) => !DIGIT.test(word)).map(stem);
  return [...new Set(stems)].sort().join(" ");
}

export class KnownNames {
  readonly #keys: KeyTable;
  /** For each tool of a segment whether its name is known. Computed once, since a segment never changes. */
  readonly #known = new WeakMap<Segment, Uint8Array>();

  /** `keys`: of all names; see `nameKey`. */
  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Which share of the tools has a known name, with or without the words of the server's name: in 0..1. */
  shareOf(slots: readonly number[], collection: Collection): number {
    let known = 0;
    for (const slot of slots) known += this.#isKnown(slot, collection);
    return known / Math.max(1, slots.length);
  }

  #isKnown(slot: number, collection: Collection): number {
    const segment = collection.at(slot)?.segment;
    if (!segment) return 0;
    let known = this.#known.get(segment);
    if (!known) {
      known = this.#knownOf(segment, collection.lexicon);
      this.#known.set(segment, known);
    }
    return known[collection.indexOf(slot)] as number;
  }

  #knownOf(segment: Segment, lexicon: Lexicon): Uint8Array {
    const server = new Set(Array.from(segment.serverWords, (word) => lexicon.termOf(word)));
    const isKnown = (ids: Int32Array): boolean => {
      const key = keyOf(Array.from(ids, (id) => lexicon.word(id)));
      // All names without a telling word have the empty key.
      return key !== "" && this.#keys.has(key);
    };
    return Uint8Array.from(segment.names, (_, i) => {
      const ids = segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, 0));
      return isKnown(ids) || isKnown(ids.filter((id) => !server.has(lexicon.termOf(id)))) ? 1 : 0;
    });
  }
}
