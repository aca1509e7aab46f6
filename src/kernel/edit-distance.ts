/** The edit distance between two words. */

/**
 * Counts insertions, deletions, replacements and swaps of neighbours. Returns Infinity beyond `most`, which
 * limits the cost.
 */
export function distanceWithin(a: string, b: string, most: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[j - 2] as number) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = row;
  }
  const distance = last[b.length] as number;
  return distance <= most ? distance : Number.POSITIVE_INFINITY;
}
