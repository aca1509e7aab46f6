/**
 * Finds phrases in texts of languages that are written without blanks, or with endings on every word:
 * Chinese, Japanese and Korean. A phrase is a row of fragments with bounded gaps of characters.
 */
import type { PhraseFound } from "./phrase.ts";
import type { SignSeverity } from "./sign.ts";

export interface FragmentPhrase {
  readonly severity: SignSeverity;
  readonly rows: readonly (readonly string[])[];
}

/** So many characters may stand between two fragments. */
const GAP = 24;
const WRITTEN_SO = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const STOP = /[。！？!?\n]/;

/** `a|b c|d`: a or b, then c or d. */
export function fragmentsOf(severity: SignSeverity, written: readonly string[]): readonly FragmentPhrase[] {
  return written.map((phrase) => ({ severity, rows: phrase.split(" ").map((row) => row.split("|")) }));
}

export function findFragments(text: string, phrases: readonly FragmentPhrase[]): readonly PhraseFound[] {
  if (!WRITTEN_SO.test(text)) return [];
  return phrases.flatMap(({ severity, rows }) => {
    const [first = [], ...more] = rows;
    return first.flatMap((fragment) => {
      const found: PhraseFound[] = [];
      for (let at = text.indexOf(fragment); at >= 0; at = text.indexOf(fragment, at + fragment.length)) {
        const end = endOf(text, at + fragment.length, more);
        if (end !== undefined) found.push({ severity, start: at, end });
      }
      return found;
    });
  });
}

/** Where the other fragments end, if they follow in the same sentence. */
function endOf(text: string, from: number, rows: readonly (readonly string[])[]): number | undefined {
  let at = from;
  for (const row of rows) {
    let near = text.slice(at, at + GAP + 12);
    const stop = STOP.exec(near);
    if (stop) near = near.slice(0, stop.index);
    const [next] = row
      .map((fragment) => ({ fragment, index: near.indexOf(fragment) }))
      .filter(({ index }) => index >= 0 && index <= GAP)
      .toSorted((a, b) => a.index - b.index);
    if (!next) return undefined;
    at += next.index + next.fragment.length;
  }
  return at;
}
