/**
 * Orders tools for a question: by the score that a network gives to the evidence for each, or by keywords
 * only.
 */
import type { Collection } from "./collection.ts";
import { coverageOf } from "./coverage.ts";
import { isDeprecated, isExactName } from "./detail.ts";
import { candidates, EVIDENCE_KINDS, type Evidence, gatherEvidence, MAX_CANDIDATES } from "./evidence.ts";
import { exampleNameScores } from "./example-names.ts";
import { scoreKeywords } from "./keyword.ts";
import type { Question } from "./question.ts";
import type { SearchContext } from "./search-context.ts";
import { highest } from "./select.ts";

export interface Ranked {
  readonly slot: number;
  readonly score: number;
  /** How likely it is the right tool, if one of the tools is. */
  readonly probability: number;
  /** Which share of the question, by weight of its terms, the tool contains. */
  readonly coverage: number;
  /** How well the tool's name fits names that similar examples have. */
  readonly exampleName: number;
}

/** The hits of a question, best first, and the tools that they were selected from. */
export interface Ranking {
  readonly hits: readonly Ranked[];
  readonly candidates: readonly number[];
}

/** Scores a tool by the evidence for it: all `EVIDENCE_KINDS`, then what all candidates share. */
export interface Scorer {
  score(inputs: Float64Array): number;
}

export interface RankOptions {
  /** How many hits are needed. Does not change their order. */
  readonly limit: number;
  readonly scorer: Scorer;
}

/**
 * At least so many tools are compared. Missing ones count as tools that have nothing in common with the
 * question.
 */
const MIN_RIVALS = 10;
/** Factor for keyword scores in the softmax. Chosen so that the confidence fits our own questions. */
const KEYWORD_SHARPNESS = 8;
const DEPRECATED_PENALTY = 1.5;
/** Higher than all evidence together, so a tool whose exact name is the question comes first. */
const EXACT_NAME_BONUS = 100;

/** Ranks by keywords only. */
export function rankByKeywords(
  question: Question,
  context: SearchContext,
  { limit }: Pick<RankOptions, "limit">,
): Ranking {
  const { collection, workspace } = context;
  const scores = workspace.take(collection.capacity);
  scoreKeywords(question.terms, context, scores);
  const slots = candidates(scores, question, context);
  const coverage = coverageOf(question, context, slots);
  const exampleName = exampleNameScores(question, context, slots);
  const probabilities = softmax(slots.map((slot) => KEYWORD_SHARPNESS * (scores[slot] as number)));
  const ranked = slots.map((slot, i) => ({
    slot,
    score: (scores[slot] as number) + nameBonus(question, collection, slot),
    probability: probabilities[i] as number,
    coverage: coverage[i] as number,
    exampleName: exampleName[i] as number,
  }));
  return { hits: withRest(sorted(ranked, collection), scores, limit, collection), candidates: slots };
}

/** Ranks by keywords that all have the same weight, without synonyms. */
export function rankByWords(
  question: Question,
  context: SearchContext,
  options: Pick<RankOptions, "limit">,
): Ranking {
  const terms = question.terms
    .filter(({ weight }) => weight > 0)
    .map(({ id }) => ({ id, weight: 1, synonyms: [], verb: false }));
  return rankByKeywords({ ...question, terms }, context, options);
}

export function rank(question: Question, context: SearchContext, { scorer, limit }: RankOptions): Ranking {
  const { collection } = context;
  const evidence = gatherEvidence(question, context);
  const inputs = new Inputs(evidence);
  /** The score of a tool without any evidence. */
  const nothing = scorer.score(inputs.ofNothing());
  const scores = evidence.slots.map((slot, i) => {
    const penalty = isDeprecated(collection, slot) ? DEPRECATED_PENALTY : 0;
    return scorer.score(inputs.of(i)) - nothing - penalty;
  });
  const probabilities = softmax(scores);
  const ranked = evidence.slots.map((slot, i) => ({
    slot,
    score: (scores[i] as number) + nameBonus(question, collection, slot),
    probability: probabilities[i] as number,
    coverage: evidence.kinds.coverage[i] as number,
    exampleName: evidence.kinds.exampleName[i] as number,
  }));
  const hits = withRest(sorted(ranked, collection), evidence.rough, limit, collection);
  return { hits, candidates: evidence.slots };
}

/** The share of each candidate. Missing candidates, up to `MIN_RIVALS`, have score 0. */
function softmax(scores: readonly number[]): number[] {
  const missing = Array.from({ length: MIN_RIVALS - scores.length }, () => 0);
  const rivals = [...scores, ...missing];
  const best = rivals.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const sum = rivals.reduce((total, score) => total + Math.exp(score - best), 0);
  return scores.map((score) => Math.exp(score - best) / sum);
}

/**
 * What the scorer gets of one candidate: each kind of evidence, then what all candidates share. Reuses one
 * array.
 */
class Inputs {
  readonly #kinds: readonly Float64Array[];
  readonly #array: Float64Array;

  constructor({ kinds, shared }: Evidence) {
    this.#kinds = EVIDENCE_KINDS.map((kind) => kinds[kind]);
    this.#array = new Float64Array(this.#kinds.length + shared.length);
    this.#array.set(shared, this.#kinds.length);
  }

  of(candidate: number): Float64Array {
    for (let k = 0; k < this.#kinds.length; k++)
      this.#array[k] = (this.#kinds[k] as Float64Array)[candidate] as number;
    return this.#array;
  }

  ofNothing(): Float64Array {
    return this.#array.fill(0, 0, this.#kinds.length);
  }
}

/**
 * The first `limit` hits. Appends other tools by their rough scores, if more hits are needed than there are
 * candidates.
 */
function withRest(ranked: Ranked[], rough: Float64Array, limit: number, collection: Collection): Ranked[] {
  const last = ranked.at(-1);
  if (!last || ranked.length < MAX_CANDIDATES || ranked.length >= limit) return ranked.slice(0, limit);
  const taken = new Set(ranked.map(({ slot }) => slot));
  const others = highest(rough, limit, (a, b) => collection.compareIds(a, b)).filter(
    (slot) => !taken.has(slot),
  );
  const scores = others.map((slot) => rough[slot] as number);
  // None gets a higher score than the last candidate.
  const most = Math.max(...scores);
  const rest = others.map((slot, i) => ({
    slot,
    score: last.score - (most - (scores[i] as number)),
    probability: 0,
    coverage: 0,
    exampleName: 0,
  }));
  return [...ranked, ...sorted(rest, collection)].slice(0, limit);
}

function nameBonus(question: Question, collection: Collection, slot: number): number {
  return isExactName(question, collection, slot) ? EXACT_NAME_BONUS : 0;
}

function sorted(ranked: Ranked[], collection: Collection): Ranked[] {
  return ranked.sort((a, b) => b.score - a.score || collection.compareIds(a.slot, b.slot));
}
