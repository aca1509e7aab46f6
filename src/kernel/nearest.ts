/** "Did you mean": the few names closest to one that does not exist. For error texts; ranking by meaning is search/. */
import { distanceWithin } from "./edit-distance.ts";

/** Longer names are compared by their beginnings: the cost of one comparison is bounded. */
const LONGEST = 64;
const WORST_SCORE = 0.4;
/** Share of a name that may be mistyped. */
const MOST_EDITS = 0.4;
const SHORTEST_WORD = 3;

/** Best first; none where nothing is close. */
export function nearest(name: string, candidates: Iterable<string>, max = 3): string[] {
  const wanted = wantedOf(name);
  const best: { candidate: string; score: number }[] = [];
  for (const candidate of candidates) {
    const worst = best[max - 1]?.score ?? WORST_SCORE;
    const score = closeness(wanted, plain(candidate), worst);
    if (score <= worst) continue;
    const place = best.findIndex((other) => other.score < score);
    best.splice(place < 0 ? best.length : place, 0, { candidate, score });
    if (best.length > max) best.pop();
  }
  return best.map(({ candidate }) => candidate);
}

/** ` Did you mean "x"?`, to be put behind a sentence, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const [guess] = nearest(word, known, 1);
  return guess === undefined ? "" : ` Did you mean "${guess}"?`;
}

interface Wanted {
  readonly text: string;
  readonly letters: number;
  /** The words of the name, each worth looking for. */
  readonly words: readonly string[];
}

function wantedOf(name: string): Wanted {
  const text = plain(name);
  const words = name
    .slice(0, LONGEST)
    .replaceAll(/(\p{Ll}|\d)(?=\p{Lu})/gu, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= SHORTEST_WORD);
  return { text, letters: lettersOf(text), words: [...new Set(words)] };
}

/** `readFile`, `read-file` and `READ_FILE` are one. */
function plain(name: string): string {
  return name
    .slice(0, LONGEST)
    .toLowerCase()
    .replaceAll(/[\s_.:/-]+/g, "");
}

/** 1 for the same letters, 0 for nothing in common; what cannot be above `worst` is not counted out. */
function closeness(wanted: Wanted, text: string, worst: number): number {
  const { text: own, words } = wanted;
  if (own === text) return 1;
  const longest = Math.max(own.length, text.length);
  if (longest === 0) return 0;
  let shared = 0;
  for (const word of words) if (text.includes(word)) shared += word.length;
  // Shared words say less than the same letters in the same places.
  const byWords = (0.9 * 2 * shared) / (own.length + text.length);
  const allowed = Math.floor(longest * Math.min(MOST_EDITS, 1 - worst));
  if (!couldBeWithin(wanted, text, allowed)) return byWords;
  const distance = distanceWithin(own, text, allowed);
  return distance > allowed ? byWords : Math.max(byWords, 1 - distance / longest);
}

/** A cheap bound before the costly count: each edit changes the length by one and the set of letters by two at most. */
function couldBeWithin(wanted: Wanted, text: string, allowed: number): boolean {
  if (Math.abs(wanted.text.length - text.length) > allowed) return false;
  return bitsOf(wanted.letters ^ lettersOf(text)) <= 2 * allowed;
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
