/** BM25F scores of all tools in view, scaled so that the best tool has 1. */
import type { Term } from "./question.ts";
import type { SearchContext } from "./search-context.ts";
import type { SearchView } from "./view.ts";

/** Writes the scores into `scores`, which must contain zeros. Returns the highest score before scaling. */
export function scoreKeywords(terms: readonly Term[], context: SearchContext, scores: Float64Array): number {
  const { collection, view, workspace } = context;
  for (const { id, weight, synonyms } of terms) {
    if (synonyms.length === 0) {
      collection.postings.accumulate(id, weight, scores);
      continue;
    }
    const best = workspace.take(scores.length);
    collection.postings.accumulateBest(id, weight, scores, best);
    for (const other of synonyms) collection.postings.accumulateBest(other.id, other.weight, scores, best);
    workspace.releaseLast();
  }
  if (view.mask) for (let i = 0; i < scores.length; i++) if (view.mask[i] !== 1) scores[i] = 0;
  return scaleToBest(scores);
}

/** Divides by the highest score and sets negative scores to 0. Returns the highest score. */
export function scaleToBest(scores: Float64Array): number {
  let highest = 1e-6;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) > highest) highest = scores[i] as number;
  const unit = 1 / highest;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    scores[i] = score > 0 ? score * unit : 0;
  }
  return highest;
}

/** Writes the higher of the two scores of each tool into `into`. */
export function poolHighest(into: Float64Array, scores: Float64Array): void {
  for (let i = 0; i < into.length; i++) {
    if ((scores[i] as number) > (into[i] as number)) into[i] = scores[i] as number;
  }
}

/** Subtracts the mean score of the tools in view from each of them. */
export function subtractMean(scores: Float64Array, { mask, size }: Pick<SearchView, "mask" | "size">): void {
  let sum = 0;
  for (let i = 0; i < scores.length; i++) if (!mask || mask[i] === 1) sum += scores[i] as number;
  const mean = sum / Math.max(1, size);
  for (let i = 0; i < scores.length; i++)
    if (!mask || mask[i] === 1) scores[i] = (scores[i] as number) - mean;
}
