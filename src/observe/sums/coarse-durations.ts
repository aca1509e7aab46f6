/** The fine buckets of durations as the few that a row of colours can show. */
import { middleOf } from "../live/durations.ts";

/** Upper bounds, within 20 %. A last part has everything above. */
export const BOUNDS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000] as const;

export function coarse(counts: readonly number[]): readonly number[] {
  const parts = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  for (const [bucket, calls] of counts.entries()) {
    const part = BOUNDS.findIndex((bound) => middleOf(bucket) <= bound);
    const at = part < 0 ? BOUNDS.length : part;
    parts[at] = (parts[at] ?? 0) + calls;
  }
  return parts;
}
