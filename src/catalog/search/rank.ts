/**
 * Orders tools for a question by twelve kinds of evidence, each in 0..1 (`EvidenceWeights`). Scores all tools roughly, then
 * gathers all evidence for the best candidates. Does not know where vectors come from.
 */
import type { Collection } from "./collection.ts";
import { coverageOf, nameCoverageOf } from "./coverage.ts";
import { actionScore, deprecationFactor, isExactName, pairScores } from "./detail.ts";
import { exampleNameScores, exampleWords } from "./example-names.ts";
import { poolHighest, scaleToBest, scoreKeywords, subtractMean } from "./keyword.ts";
import type { Phrase, Question, Term } from "./question.ts";
import type { SearchContext, VectorSpace } from "./search-context.ts";
import { highest } from "./select.ts";
import type { EvidenceWeights } from "./settings.ts";
import { serverVectorScores, siblingScores } from "./siblings.ts";
import type { SearchView } from "./view.ts";

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/** Tools that all evidence is gathered for. */
const MAX_CANDIDATES = 100;
/** Weights in the rough score, where keywords have 1. `ROUGH_VECTOR` also counts in the scores of siblings. */
const ROUGH_VECTOR = 0.5;
const ROUGH_CLAUSE = 0.5;
const ROUGH_EXAMPLE_WORDS = 1;
/** Above 1, because an example that is only somewhat similar may be about something else. */
const EXAMPLE_NAME_EXPONENT = 1.5;
/** A tool without a word in common with the question needs this cosine. */
const MIN_COSINE = 0.3;
/** Higher than all evidence together, so a tool whose exact name is the question comes first. */
const EXACT_NAME_BONUS = 10;

export interface RankOptions {
  /** How many hits are needed. Does not change their order. */
  readonly limit: number;
  readonly weights: EvidenceWeights;
}

/** Ranks by keywords only. */
export function rankByKeywords(
  question: Question,
  context: SearchContext,
  { limit }: Pick<RankOptions, "limit">,
): Ranked[] {
  const { collection, workspace } = context;
  const scores = workspace.take(collection.capacity);
  scoreKeywords(question.terms, context, scores);
  const slots = candidates(scores, question, context);
  const ranked = slots.map((slot) => ({
    slot,
    score: (scores[slot] as number) + nameBonus(question, collection, slot),
  }));
  return withRest(sorted(ranked, collection), scores, limit, collection);
}

/** Ranks by keywords that all have the same weight, without synonyms. */
export function rankByWords(
  question: Question,
  context: SearchContext,
  options: Pick<RankOptions, "limit">,
): Ranked[] {
  const terms = question.terms
    .filter(({ weight }) => weight > 0)
    .map(({ id }) => ({ id, weight: 1, synonyms: [], verb: false }));
  return rankByKeywords({ ...question, terms }, context, options);
}

export function rank(question: Question, context: SearchContext, { weights, limit }: RankOptions): Ranked[] {
  const { collection, view, vectors } = context;
  const { keyword, clauseKeyword, vector, exampleWord, topic, rough } = scoreRoughly(question, context);
  const exampleWordWeight = weights.exampleWords * exampleTrust(question);
  const slots = candidates(rough, question, context);
  const siblings = siblingScores(topic, collection, view, slots);
  const serverVector = serverVectorScores(vector, collection, view, slots);
  const clauseVector = clauseVectorScores(question, slots, vector, vectors);
  const pairs = pairScores(question, collection, slots);
  scaleToBest(pairs);
  const exampleName = exampleNameScores(question, context, slots);
  const nameCoverage = nameCoverageOf(question, context, slots);
  const coverage = coverageOf(question, context, slots);
  const ranked = slots.map((slot, i) => {
    const score =
      weights.keyword * (keyword[slot] as number) +
      weights.vector * (vector[slot] as number) +
      weights.clauseKeyword * (clauseKeyword[slot] as number) +
      weights.clauseVector * (clauseVector[i] as number) +
      weights.siblings * (siblings[i] as number) +
      weights.serverVector * (serverVector[i] as number) +
      weights.pair * (pairs[i] as number) +
      weights.action * actionScore(question.actions, collection, slot) +
      weights.nameCoverage * (nameCoverage[i] as number) +
      weights.coverage * (coverage[i] as number) +
      weights.exampleName * (exampleName[i] as number) ** EXAMPLE_NAME_EXPONENT +
      exampleWordWeight * (exampleWord[slot] as number);
    return {
      slot,
      score: score * deprecationFactor(collection, slot) + nameBonus(question, collection, slot),
    };
  });
  return withRest(sorted(ranked, collection), rough, limit, collection);
}

/** Scores of all tools, by slot. */
interface RoughScores {
  readonly keyword: Float64Array;
  readonly clauseKeyword: Float64Array;
  readonly vector: Float64Array;
  readonly exampleWord: Float64Array;
  /** Keywords without verbs, and vectors: what siblings are judged by. */
  readonly topic: Float64Array;
  /** The sum that candidates are selected by. */
  readonly rough: Float64Array;
}

function scoreRoughly(question: Question, context: SearchContext): RoughScores {
  const { view, workspace, vectors } = context;
  const { capacity } = context.collection;
  const keyword = workspace.take(capacity);
  scoreKeywords(question.terms, context, keyword);
  const clauseKeyword = question.clauses.length > 1 ? bestClauseScores(question, context) : keyword;
  const vector = workspace.take(capacity);
  const minVector = vectors ? MIN_COSINE / scoreVectors(question, vectors, view, vector) : 0;
  const noVerbs = scoresWithoutVerbs(question, keyword, context);
  const exampleWord = workspace.take(capacity);
  scoreKeywords(exampleWords(question.similarExamples, context), context, exampleWord);
  const trust = exampleTrust(question);
  const topic = workspace.take(capacity);
  const rough = workspace.take(capacity);
  for (let slot = 0; slot < capacity; slot++) {
    const byWords = (keyword[slot] as number) + ROUGH_CLAUSE * (clauseKeyword[slot] as number);
    const byVector = ROUGH_VECTOR * (vector[slot] as number);
    topic[slot] = ((noVerbs[slot] as number) + byVector) / (1 + ROUGH_VECTOR);
    const byExamples = trust * (exampleWord[slot] as number);
    const isNear = byWords > 0 || byExamples > 0 || (vector[slot] as number) >= minVector;
    rough[slot] = isNear ? byWords + byVector + byExamples : 0;
  }
  return { keyword, clauseKeyword, vector, exampleWord, topic, rough };
}

/** The more similar the best example is, the more the words of example names count. */
function exampleTrust({ similarExamples }: Question): number {
  return ROUGH_EXAMPLE_WORDS * (similarExamples[0]?.similarity ?? 0);
}

/** Appends the other tools by their rough scores, if more hits are needed than there are candidates. */
function withRest(ranked: Ranked[], rough: Float64Array, limit: number, collection: Collection): Ranked[] {
  const last = ranked.at(-1);
  if (!last || ranked.length < MAX_CANDIDATES || ranked.length >= limit) return ranked;
  const taken = new Set(ranked.map(({ slot }) => slot));
  const others = highest(rough, limit, (a, b) => collection.compareIds(a, b)).filter(
    (slot) => !taken.has(slot),
  );
  const rest = sorted(
    others.map((slot) => ({ slot, score: rough[slot] as number })),
    collection,
  );
  // Scaled so that none gets a higher score than the last candidate.
  const scale = last.score / (rest[0]?.score ?? 1);
  return [
    ...ranked,
    ...rest.map(({ slot, score }) => ({ slot, score: Math.min(score * scale, last.score) })),
  ];
}

/** The tools with the highest scores, and tools with the exact name: its words may find nothing, as in `help`, `who_am_i` or `git.log`. */
function candidates(scores: Float64Array, question: Question, { collection, view }: SearchContext): number[] {
  const slots = highest(scores, MAX_CANDIDATES, (a, b) => collection.compareIds(a, b));
  if (!question.mayBeName) return slots;
  const selected = new Set(slots);
  for (let slot = 0; slot < collection.capacity; slot++) {
    if ((!view.mask || view.mask[slot] === 1) && isExactName(question, collection, slot)) selected.add(slot);
  }
  return [...selected];
}

function nameBonus(question: Question, collection: Collection, slot: number): number {
  return isExactName(question, collection, slot) ? EXACT_NAME_BONUS : 0;
}

/** Keyword scores without verbs: a server whose tools "create" and "get" other things is no better for that. */
function scoresWithoutVerbs(
  { terms }: Question,
  keyword: Float64Array,
  context: SearchContext,
): Float64Array {
  const others = terms.map(withoutVerbs).filter(({ weight, synonyms }) => weight > 0 || synonyms.length > 0);
  if (others.length === 0) return keyword;
  const scores = context.workspace.take(keyword.length);
  scoreKeywords(others, context, scores);
  return scores;
}

/** A verb keeps synonyms that are no verbs: "remember" is about memory. */
function withoutVerbs({ id, weight, synonyms, verb }: Term): Term {
  return { id, weight: verb ? 0 : weight, synonyms: synonyms.filter((term) => !term.verb), verb };
}

/** The keyword score of each tool for the clause that it fits best. */
function bestClauseScores({ clauses }: Question, context: SearchContext): Float64Array {
  const { collection, workspace } = context;
  const pooled = workspace.take(collection.capacity);
  const scores = workspace.take(collection.capacity);
  for (const { terms } of clauses) {
    scores.fill(0);
    scoreKeywords(terms, context, scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

/**
 * Writes scaled cosines into `scores`. Returns the highest cosine, which `MIN_COSINE` is compared with; Infinity if the mean
 * was subtracted, since then every tool above the mean counts.
 */
function scoreVectors(phrase: Phrase, vectors: VectorSpace, view: SearchView, scores: Float64Array): number {
  const { mask } = view;
  const vector = vectors.vectorOf(phrase);
  if (!vector) return 0;
  for (let slot = 0; slot < scores.length; slot++) {
    if (!mask || mask[slot] === 1) scores[slot] = vectors.matrix.cosine(slot, vector);
  }
  if (vectors.subtractMean) subtractMean(scores, view);
  const best = scaleToBest(scores);
  return vectors.subtractMean ? Number.POSITIVE_INFINITY : best;
}

/** The vector score of each candidate for the clause that it fits best. */
function clauseVectorScores(
  { clauses }: Question,
  slots: readonly number[],
  vectorScores: Float64Array,
  vectors: VectorSpace | undefined,
): Float64Array {
  if (!vectors || clauses.length === 1)
    return Float64Array.from(slots, (slot) => vectorScores[slot] as number);
  const pooled = new Float64Array(slots.length);
  for (const clause of clauses) {
    const vector = vectors.vectorOf(clause);
    if (!vector) continue;
    const scores = Float64Array.from(slots, (slot) => vectors.matrix.cosine(slot, vector));
    if (vectors.subtractMean) subtractMean(scores, { mask: undefined, size: slots.length });
    scaleToBest(scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

function sorted(ranked: Ranked[], collection: Collection): Ranked[] {
  return ranked.sort((a, b) => b.score - a.score || collection.compareIds(a.slot, b.slot));
}
