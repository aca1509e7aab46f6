/**
 * Finds the names most similar to one that does not exist, for error texts ("Did you mean"). Ranking by
 * meaning is in catalog/search/.
 */
import { distanceWithin } from "./edit-distance.ts";

/** Only the beginnings of longer names are compared, which limits the cost. */
const MAX_LENGTH = 64;
const MIN_SCORE = 0.4;
/** The largest share of a name that may be edited. */
const MAX_EDITS = 0.4;
const MIN_WORD_LENGTH = 3;

/** The best names first; empty if none is similar. */
export function nearest(name: string, candidates: Iterable<string>, max = 3): string[] {
  const query = queryOf(name);
  const best: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const worst = best[max - 1]?.score ?? MIN_SCORE;
    const score = similarity(query, plain(candidate), worst);
    if (score <= worst) continue;
    const index = best.findIndex((other) => other.score < score);
    best.splice(index < 0 ? best.length : index, 0, { candidate, score });
    if (best.length > max) best.pop();
  }
  return best.map(({ candidate }) => candidate);
}

/** The sentence ` Did you mean "x"?` to append to a text, or "". */
export function didYouMean(word: string, known: Iterable<string>): string {
  const [guess] = nearest(word, known, 1);
  return guess === undefined ? "" : ` Did you mean "${guess}"?`;
}

interface Query {
  readonly text: string;
  /** The set of letters as bits. */
  readonly letters: number;
  /** The words of the name that are long enough. */
  readonly words: readonly string[];
}

function queryOf(name: string): Query {
  const text = plain(name);
  const words = name
    .slice(0, MAX_LENGTH)
    .replaceAll(/(\p{Ll}|\d)(?=\p{Lu})/gu, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= MIN_WORD_LENGTH);
  return { text, letters: lettersOf(text), words: [...new Set(words)] };
}

/** Makes `readFile`, `read-file` and `READ_FILE` equal. */
function plain(name: string): string {
  return name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[\s_.:/-]+/g, "");
}

/**
 * 1 for equal texts, 0 for nothing in common. If the score cannot be above `worst`, it may be lower than
 * exact.
 */
function similarity(query: Query, text: string, worst: number): number {
  const { text: own, words } = query;
  if (own === text) return 1;
  const longest = Math.max(own.length, text.length);
  if (longest === 0) return 0;
  let shared = 0;
  for (const word of words) if (text.includes(word)) shared += word.length;
  // Common words count less than equal letters at equal positions.
  const byWords = (0.9 * 2 * shared) / (own.length + text.length);
  const allowed = Math.floor(longest * Math.min(MAX_EDITS, 1 - worst));
  if (!couldBeWithin(query, text, allowed)) return byWords;
  const distance = distanceWithin(own, text, allowed);
  return distance > allowed ? byWords : Math.max(byWords, 1 - distance / longest);
}

/**
 * A cheap check before the costly distance: each edit changes the length by at most one and the set of
 * letters by at most two.
 */
function couldBeWithin(query: Query, text: string, allowed: number): boolean {
  if (Math.abs(query.text.length - text.length) > allowed) return false;
  return bitsOf(query.letters ^ lettersOf(text)) <= 2 * allowed;
}

function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(set: number): number {
  let bits = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) bits += 1;
  return bits;
}
