/**
 * Gathers what speaks for a tool: twelve kinds of evidence, each in 0..1. Scores all tools roughly, then
 * gathers all evidence for the best candidates. Does not know where vectors come from.
 */
import { coverageOf, nameCoverageOf } from "./coverage.ts";
import { actionScores, isExactName, pairScores } from "./detail.ts";
import { exampleNameScores, exampleWords } from "./example-names.ts";
import { poolHighest, scaleToBest, scoreKeywords, subtractMean } from "./keyword.ts";
import type { Phrase, Question, Term } from "./question.ts";
import type { SearchContext, VectorSpace } from "./search-context.ts";
import { highest } from "./select.ts";
import { serverVectorScores, siblingScores } from "./siblings.ts";
import type { SearchView } from "./view.ts";

/** Tools that all evidence is gathered for. */
export const MAX_CANDIDATES = 100;
/**
 * Weights in the rough score, where keywords have 1. `ROUGH_VECTOR` also counts in the scores of siblings.
 */
const ROUGH_VECTOR = 0.5;
const ROUGH_CLAUSE = 0.5;
/** A tool without a word in common with the question needs this cosine. */
const MIN_COSINE = 0.3;
/** A question with more words counts as one with this many. */
const MANY_WORDS = 20;

/** The kinds of evidence, in the order in which a scorer gets them. */
export const EVIDENCE_KINDS = [
  /**
   * BM25F score of the whole question, and of the clause that fits best: a question of several steps needs a
   * tool for each.
   */
  "keyword",
  "clauseKeyword",
  /** Cosine of the vectors of question and tool, of the whole question and of the clause that fits best. */
  "vector",
  "clauseVector",
  /** How well the other tools of the same server fit the question. */
  "siblings",
  /** Mean vector similarity of all tools of the server. */
  "serverVector",
  /** Adjacent words of the question that are also adjacent in the tool. */
  "pair",
  /** Whether the tool does the kind of action that the question asks for. */
  "action",
  /** How much of the tool's name is in the question. */
  "nameCoverage",
  /** How much of the question is in the tool's texts. */
  "coverage",
  /** How well the tool's name fits the names of similar examples. */
  "exampleName",
  /** BM25F score of the words of those names in the tool's texts. */
  "exampleWords",
] as const;

export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** What a scorer gets, and what candidates were selected by. */
export interface Evidence {
  readonly slots: readonly number[];
  /** The rough score of all tools, by slot. */
  readonly rough: Float64Array;
  /** One value per candidate, in 0..1. */
  readonly kinds: Readonly<Record<EvidenceKind, Float64Array>>;
  /**
   * The same for all candidates: the highest value of some kinds among them, the similarity of the best
   * example, and how long the question is.
   */
  readonly shared: readonly number[];
}

export function gatherEvidence(question: Question, context: SearchContext): Evidence {
  const { collection, view, vectors } = context;
  const { keyword, clauseKeyword, vector, exampleWord, topic, rough } = scoreRoughly(question, context);
  const slots = candidates(rough, question, context);
  const ofSlots = (scores: Float64Array) => Float64Array.from(slots, (slot) => scores[slot] as number);
  const siblings = siblingScores(topic, collection, view, slots);
  const pairs = pairScores(question, collection, slots);
  scaleToBest(pairs);
  const nameCoverage = nameCoverageOf(question, context, slots);
  const coverage = coverageOf(question, context, slots);
  const exampleName = exampleNameScores(question, context, slots);
  return {
    slots,
    rough,
    kinds: {
      keyword: ofSlots(keyword),
      clauseKeyword: ofSlots(clauseKeyword),
      vector: ofSlots(vector),
      clauseVector: clauseVectorScores(question, slots, vector, vectors),
      siblings,
      serverVector: serverVectorScores(vector, collection, view, slots),
      pair: pairs,
      action: actionScores(question, collection, slots),
      nameCoverage,
      coverage,
      exampleName,
      exampleWords: ofSlots(exampleWord),
    },
    shared: [
      Math.max(0, ...siblings),
      Math.max(0, ...nameCoverage),
      Math.max(0, ...coverage),
      Math.max(0, ...exampleName),
      exampleTrust(question),
      Math.min(MANY_WORDS, question.words.length) / 10,
    ],
  };
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
export function exampleTrust({ similarExamples }: Question): number {
  return similarExamples[0]?.similarity ?? 0;
}

/**
 * The tools with the highest scores, and tools with the exact name: its words may find nothing, as in `help`,
 * `who_am_i` or `git.log`.
 */
export function candidates(
  scores: Float64Array,
  question: Question,
  { collection, view }: SearchContext,
): number[] {
  const slots = highest(scores, MAX_CANDIDATES, (a, b) => collection.compareIds(a, b));
  if (!question.mayBeName) return slots;
  const selected = new Set(slots);
  for (let slot = 0; slot < collection.capacity; slot++) {
    if ((!view.mask || view.mask[slot] === 1) && isExactName(question, collection, slot)) selected.add(slot);
  }
  return [...selected];
}

/**
 * Keyword scores without verbs: a server whose tools "create" and "get" other things is no better for that.
 */
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
 * Writes scaled cosines into `scores`. Returns the highest cosine, which `MIN_COSINE` is compared with;
 * Infinity if the mean was subtracted, since then every tool above the mean counts.
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
