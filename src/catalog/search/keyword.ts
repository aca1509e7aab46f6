/** BM25F scores of all tools in view, as shares of the best. */
import type { Ground } from "./ground.ts";
import type { Term } from "./question.ts";
import type { SearchView } from "./view.ts";

/** Adds up into `scores`, which comes in as zeros; returns what one share is worth. */
export function scoreKeywords(terms: readonly Term[], ground: Ground, scores: Float64Array): number {
  const { collection, view, workspace } = ground;
  for (const { id, idf, kin } of terms) {
    if (kin.length === 0) {
      collection.postings.accumulate(id, idf, scores);
      continue;
    }
    const peaks = workspace.take(scores.length);
    collection.postings.accumulateBest(id, idf, scores, peaks);
    for (const other of kin) collection.postings.accumulateBest(other.id, other.idf, scores, peaks);
    workspace.giveBack();
  }
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

/** Takes the mean of those in view off all. */
export function aboveMean(scores: Float64Array, { mask, size }: Pick<SearchView, "mask" | "size">): void {
  let sum = 0;
  for (let i = 0; i < scores.length; i++) if (!mask || mask[i] === 1) sum += scores[i] as number;
  const mean = sum / Math.max(1, size);
  for (let i = 0; i < scores.length; i++)
    if (!mask || mask[i] === 1) scores[i] = (scores[i] as number) - mean;
}
