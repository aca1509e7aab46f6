/** Finer evidence about one tool: word pairs, verbs, its name, its age. Gathered for few candidates only. */
import { bits, CHANGES } from "./actions.ts";
import type { Collection } from "./collection.ts";
import type { Pair, Question } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** A tool whose action is not known is neither punished nor favoured. */
const UNKNOWN_ACTION = 0.3;
/** One that changes what nobody asked to change is. */
const UNASKED_CHANGE = -0.6;
const DEPRECATED_SHARE = 0.8;
/** Name, title and description: parameters lie side by side by chance. */
const FIELDS_WITH_PAIRS = 3;

/** For each of `slots` what the question's word pairs that stand side by side in the tool are worth. */
export function pairsOf({ pairs }: Question, collection: Collection, slots: readonly number[]): Float64Array {
  if (pairs.size === 0) return new Float64Array(slots.length);
  // Most words of a tool begin no pair, which an array tells sooner than a map.
  const begins = new Uint8Array(collection.lexicon.terms);
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
  for (const { worth } of found) sum += worth;
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

/** Whether the question is the tool's name, with or without its server's, however it is written. */
export function isNamed({ spoken }: Question, collection: Collection, slot: number): boolean {
  const segment = collection.at(slot)?.segment;
  if (!segment) return false;
  const name = segment.plainNames[collection.indexOf(slot)] ?? "";
  if (!spoken.endsWith(name) || name === "") return false;
  return spoken === name || spoken === segment.plainServer + name;
}

/** What is left of the score of a tool that says it should not be used any more. */
export function freshness(collection: Collection, slot: number): number {
  return collection.at(slot)?.segment.deprecated[collection.indexOf(slot)] === 1 ? DEPRECATED_SHARE : 1;
}

/** Which share of what the tool does was asked for; below zero if it does something else to things. */
export function actionScore(asked: number, collection: Collection, slot: number): number {
  const offered = collection.at(slot)?.segment.actions[collection.indexOf(slot)] ?? 0;
  if (offered === 0 || asked === 0) return UNKNOWN_ACTION;
  if ((offered & asked) === 0 && (offered & CHANGES) !== 0) return UNASKED_CHANGE;
  return bits(offered & asked) / bits(offered);
}
