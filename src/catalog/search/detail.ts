/**
 * Evidence that is computed for candidates only: adjacent words, the kind of action, the exact name,
 * deprecation.
 */
import { KIND_COUNT } from "./actions.ts";
import type { Collection } from "./collection.ts";
import type { Pair, Question } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** Score if neither the name of the tool nor the first word of its description says what it does. */
const UNKNOWN_ACTION = 0.3;
/** Name, title and description. In the names of parameters, words are adjacent by chance. */
const FIELDS_WITH_PAIRS = 3;

/**
 * For each of `slots`: the sum of the weights of the question's word pairs that are also adjacent in the
 * tool.
 */
export function pairScores(
  { pairs }: Question,
  collection: Collection,
  slots: readonly number[],
): Float64Array {
  if (pairs.size === 0) return new Float64Array(slots.length);
  // Most words of a tool begin no pair. An array rules them out faster than a map.
  const begins = new Uint8Array(collection.lexicon.termCapacity);
  for (const first of pairs.keys()) begins[first] = 1;
  return Float64Array.from(slots, (slot) => pairScore(pairs, begins, collection, slot));
}

function pairScore(
  pairs: Question["pairs"],
  begins: Uint8Array,
  collection: Collection,
  slot: number,
): number {
  const segment = collection.at(slot)?.segment;
  if (!segment) return 0;
  const i = collection.indexOf(slot);
  const found = new Set<Pair>();
  for (let f = 0; f < FIELDS_WITH_PAIRS; f++) {
    read(segment.words, fieldStart(segment, i, f), fieldEnd(segment, i, f));
  }
  read(segment.serverWords, 0, segment.serverWords.length);
  let sum = 0;
  for (const { weight } of found) sum += weight;
  return sum;

  function read(list: Int32Array, from: number, to: number): void {
    let following: ReadonlyMap<number, Pair> | undefined;
    for (let at = from; at < to; at++) {
      const term = collection.lexicon.termOf(list[at] as number);
      const pair = following?.get(term);
      if (pair) found.add(pair);
      following = begins[term] === 1 ? pairs.get(term) : undefined;
    }
  }
}

/**
 * Whether the question is the tool's name, with or without the server's name. Case and separators do not
 * matter.
 */
export function isExactName({ compact }: Question, collection: Collection, slot: number): boolean {
  const segment = collection.at(slot)?.segment;
  if (!segment) return false;
  const name = segment.compactNames[collection.indexOf(slot)] ?? "";
  if (!compact.endsWith(name) || name === "") return false;
  return compact === name || compact === segment.compactServer + name;
}

/** Whether the tool's texts say that it is deprecated. */
export function isDeprecated(collection: Collection, slot: number): boolean {
  return collection.at(slot)?.segment.deprecated[collection.indexOf(slot)] === 1;
}

/**
 * For each of `slots`: how likely the question asks for what the tool does, compared with the likeliest kind
 * of action.
 */
export function actionScores(
  { actions }: Question,
  collection: Collection,
  slots: readonly number[],
): Float64Array {
  return Float64Array.from(slots, (slot) => {
    const offered = collection.at(slot)?.segment.actions[collection.indexOf(slot)] ?? 0;
    if (offered === 0) return UNKNOWN_ACTION;
    let best = 0;
    for (let kind = 0; kind < KIND_COUNT; kind++) {
      if ((offered & (1 << kind)) !== 0) best = Math.max(best, actions[kind] as number);
    }
    return best;
  });
}
