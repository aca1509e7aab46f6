/** "Did you mean …?": the word that a mistyped one most likely stands for. */

/** The closest of `known`, or undefined if none is close enough to be worth saying. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const typed = plain(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const candidate of known) {
    const away = distance(typed, plain(candidate), least);
    if (away < least) [best, least] = [candidate, away];
  }
  return best;
}

/** ` Did you mean "x"?`, to be put behind a sentence, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const guess = nearest(word, known);
  return guess === undefined ? "" : ` Did you mean "${guess}"?`;
}

/** Case and separators are what people get wrong first. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, "");
}

/** Edits from one to the other, two swapped neighbours counting as one; `limit` if there are that many. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let older: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, (older[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    [older, above] = [above, row];
  }
  return Math.min(limit, above[b.length] ?? limit);
}
