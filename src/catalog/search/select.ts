/** Selects the highest of many scores without sorting them all. */

const BUCKETS = 2048;

/**
 * Indexes of the `limit` highest scores above zero, in no particular order. Of equal scores, `compareTied`
 * decides which are selected.
 */
export function highest(
  scores: Float64Array,
  limit: number,
  compareTied: (a: number, b: number) => number,
): number[] {
  let top = 0;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) > top) top = scores[i] as number;
  if (top === 0 || limit <= 0) return [];
  const unit = (BUCKETS - 1) / top;
  const counts = new Int32Array(BUCKETS);
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score > 0) counts[(score * unit) | 0] = (counts[(score * unit) | 0] as number) + 1;
  }
  // Buckets from `border` up are selected whole. Only the next lower bucket has to be sorted.
  let border = BUCKETS;
  let above = 0;
  while (border > 0 && above + (counts[border - 1] as number) <= limit) above += counts[--border] as number;
  const selected: number[] = [];
  const borderline: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score <= 0) continue;
    const bucket = (score * unit) | 0;
    if (bucket >= border) selected.push(i);
    else if (bucket === border - 1) borderline.push(i);
  }
  borderline.sort((a, b) => (scores[b] as number) - (scores[a] as number) || compareTied(a, b));
  for (const i of borderline.slice(0, limit - above)) selected.push(i);
  return selected;
}
