/** Mends words of a question that no tool has: takes run-together words apart, and typing errors to the nearest known word. */
import type { Lexicon } from "./lexicon.ts";

const PLAIN = /^[a-z]+$/;
const SHORTEST_HALF = 3;
const SHORTEST_TYPO = 5;
/** From this length on two errors are forgiven. */
const LONG = 8;
const LONGEST = 24;

/** The words meant; the word itself if nothing is near. `spelled`: it is a word of the language, so no typing error. */
export function repair(
  word: string,
  lexicon: Lexicon,
  known: (word: string) => boolean,
  spelled: boolean,
): readonly string[] {
  if (!PLAIN.test(word) || word.length > LONGEST) return [word];
  for (let cut = word.length - SHORTEST_HALF; cut >= SHORTEST_HALF; cut--) {
    const halves = [word.slice(0, cut), word.slice(cut)] as const;
    if (known(halves[0]) && known(halves[1])) return halves;
  }
  if (spelled || word.length < SHORTEST_TYPO) return [word];
  return [nearest(word, lexicon, known) ?? word];
}

function nearest(word: string, lexicon: Lexicon, known: (word: string) => boolean): string | undefined {
  let most = word.length >= LONG ? 2 : 1;
  let best: string | undefined;
  for (let id = 0; id < lexicon.words; id++) {
    const other = lexicon.word(id);
    if (other.charCodeAt(0) !== word.charCodeAt(0) || Math.abs(other.length - word.length) > most) continue;
    const distance = distanceWithin(word, other, most);
    const nearer = distance < most || (distance === most && (best === undefined || other < best));
    if (!nearer || !known(other)) continue;
    best = other;
    most = distance;
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours; Infinity beyond `most`. */
export function distanceWithin(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let lowest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let cost = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] as number) + 1);
      next.push(cost);
      lowest = Math.min(lowest, cost);
    }
    if (lowest > most) return Number.POSITIVE_INFINITY;
    before = row;
    row = next;
  }
  const distance = row[b.length] as number;
  return distance <= most ? distance : Number.POSITIVE_INFINITY;
}
