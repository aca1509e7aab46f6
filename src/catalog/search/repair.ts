/** Mends words of a question that no tool has: takes run-together words apart, and typing errors to the nearest known word. */
import { distanceWithin } from "../../kernel/edit-distance.ts";
import type { Lexicon } from "./lexicon.ts";

const PLAIN = /^[a-z]+$/;
const SHORTEST_HALF = 3;
const SHORTEST_TYPO = 5;
/** From this length on two errors are forgiven. */
const LONG = 8;
const LONGEST = 24;

/** The two words that were run together; undefined if there are none. */
export function takeApart(word: string, known: (word: string) => boolean): readonly string[] | undefined {
  if (!isPlain(word)) return undefined;
  for (let cut = word.length - SHORTEST_HALF; cut >= SHORTEST_HALF; cut--) {
    const halves = [word.slice(0, cut), word.slice(cut)] as const;
    if (known(halves[0]) && known(halves[1])) return halves;
  }
  return undefined;
}

/** The nearest word that `held` knows by its number, if one is near enough for a typing error. */
export function withoutTypo(
  word: string,
  lexicon: Lexicon,
  held: (id: number) => boolean,
): string | undefined {
  if (!isPlain(word) || word.length < SHORTEST_TYPO) return undefined;
  let most = word.length >= LONG ? 2 : 1;
  let best: string | undefined;
  for (let id = 0; id < lexicon.words; id++) {
    const other = lexicon.word(id);
    if (other.charCodeAt(0) !== word.charCodeAt(0) || Math.abs(other.length - word.length) > most) continue;
    const distance = distanceWithin(word, other, most);
    const nearer = distance < most || (distance === most && (best === undefined || other < best));
    if (!nearer || !held(id)) continue;
    best = other;
    most = distance;
  }
  return best;
}

function isPlain(word: string): boolean {
  return word.length <= LONGEST && PLAIN.test(word);
}
