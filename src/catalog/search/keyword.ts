/** BM25F scores of all tools in view, as shares of the best. */
import type { Collection } from "./collection.ts";
import type { Term } from "./question.ts";
import type { View } from "./view.ts";

/** Adds up into `scores`, which comes in as zeros; returns what one share is worth. */
export function scoreKeywords(
  terms: readonly Term[],
  collection: Collection,
  view: View,
  scores: Float64Array,
): number {
  for (const term of terms) collection.postings.accumulate(term.id, term.idf, scores);
  if (view.mask) for (let i = 0; i < scores.length; i++) if (view.mask[i] !== 1) scores[i] = 0;
  return toShare(scores);
}

/** Divides by the highest and drops what is below zero; returns the highest. */
export function toShare(scores: Float64Array): number {
  let most = 1e-6;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) > most) most = scores[i] as number;
  const unit = 1 / most;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    scores[i] = score > 0 ? score * unit : 0;
  }
  return most;
}

/** Keeps the higher of the two, in `into`. */
export function poolHighest(into: Float64Array, scores: Float64Array): void {
  for (let i = 0; i < into.length; i++) {
    if ((scores[i] as number) > (into[i] as number)) into[i] = scores[i] as number;
  }
}
