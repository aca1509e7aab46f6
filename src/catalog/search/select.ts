/** Picks the highest of many scores without sorting them all. */

const BUCKETS = 2048;

/** Indexes of the `most` highest scores above zero, in no particular order; `tie` decides among equals at the border. */
export function highest(scores: Float64Array, most: number, tie: (a: number, b: number) => number): number[] {
  let top = 0;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) > top) top = scores[i] as number;
  if (top === 0 || most <= 0) return [];
  const unit = (BUCKETS - 1) / top;
  const counts = new Int32Array(BUCKETS);
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score > 0) counts[(score * unit) | 0] = (counts[(score * unit) | 0] as number) + 1;
  }
  let border = BUCKETS;
  let above = 0;
  while (border > 0 && above + (counts[border - 1] as number) <= most) above += counts[--border] as number;
  const chosen: number[] = [];
  const close: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score <= 0) continue;
    const bucket = (score * unit) | 0;
    if (bucket >= border) chosen.push(i);
    else if (bucket === border - 1) close.push(i);
  }
  close.sort((a, b) => (scores[b] as number) - (scores[a] as number) || tie(a, b));
  for (const i of close.slice(0, most - above)) chosen.push(i);
  return chosen;
}
