/**
 * Corrects words of a question that no tool has: splits words that were run together, and replaces typing
 * errors by the nearest known word.
 */
import { distanceWithin } from "../../kernel/edit-distance.ts";
import type { Lexicon } from "./lexicon.ts";

const PLAIN = /^[a-z]+$/;
const MIN_HALF_LENGTH = 3;
const MIN_TYPO_LENGTH = 5;
/** Words of this length and more may have two errors, shorter ones one. */
const LONG = 8;
const MAX_LENGTH = 24;

/** The two known words that the word consists of, as in "readfile"; undefined if there are none. */
export function splitCompound(word: string, known: (word: string) => boolean): readonly string[] | undefined {
  if (!isPlain(word)) return undefined;
  for (let cut = word.length - MIN_HALF_LENGTH; cut >= MIN_HALF_LENGTH; cut--) {
    const halves = [word.slice(0, cut), word.slice(cut)] as const;
    if (known(halves[0]) && known(halves[1])) return halves;
  }
  return undefined;
}

/**
 * The nearest word of the lexicon whose id `accept` allows; undefined if none is near enough for a typing
 * error.
 */
export function correctTypo(
  word: string,
  lexicon: Lexicon,
  accept: (id: number) => boolean,
): string | undefined {
  if (!isPlain(word) || word.length < MIN_TYPO_LENGTH) return undefined;
  let maxDistance = word.length >= LONG ? 2 : 1;
  let best: string | undefined;
  for (let id = 0; id < lexicon.wordCapacity; id++) {
    const other = lexicon.word(id);
    if (other.charCodeAt(0) !== word.charCodeAt(0) || Math.abs(other.length - word.length) > maxDistance)
      continue;
    const distance = distanceWithin(word, other, maxDistance);
    const nearer =
      distance < maxDistance || (distance === maxDistance && (best === undefined || other < best));
    if (!nearer || !accept(id)) continue;
    best = other;
    maxDistance = distance;
  }
  return best;
}

function isPlain(word: string): boolean {
  return word.length <= MAX_LENGTH && PLAIN.test(word);
}
