/** Orders tools for a question by seven kinds of evidence, each in 0..1. Knows nothing of where vectors come from. */
import type { Collection } from "./collection.ts";
import { actionScore, pairScore } from "./detail.ts";
import { poolHighest, scoreKeywords, toShare } from "./keyword.ts";
import type { Matrix } from "./matrix.ts";
import type { Question } from "./question.ts";
import { highest } from "./select.ts";
import type { EvidenceWeights } from "./settings.ts";
import { siblingSupport } from "./siblings.ts";
import type { View } from "./view.ts";
import type { Workspace } from "./workspace.ts";

/** Vectors of tools and of texts, from whatever source. */
export interface Sense {
  readonly matrix: Matrix;
  /** A unit vector; undefined if the text means nothing here. */
  vectorOf(text: string): Float32Array | undefined;
}

export interface Ground {
  readonly collection: Collection;
  readonly view: View;
  readonly workspace: Workspace;
  /** Undefined where there are no vectors: then words alone decide. */
  readonly sense: Sense | undefined;
}

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/** Tools that the finer evidence is gathered for. */
const CANDIDATES = 200;
/** What meaning counts beside keywords when candidates are chosen and siblings judged. */
const MEANING_SHARE = 0.5;
const CLAUSE_SHARE = 0.5;

/** Keywords alone. */
export function rankByKeywords(question: Question, { collection, view, workspace }: Ground): Ranked[] {
  const scores = workspace.take(collection.capacity);
  scoreKeywords(question.terms, collection, view, scores);
  const slots = highest(scores, CANDIDATES, (a, b) => collection.compareIds(a, b));
  return sorted(
    slots.map((slot) => ({ slot, score: scores[slot] as number })),
    collection,
  );
}

export function rank(question: Question, ground: Ground, weights: EvidenceWeights): Ranked[] {
  const { collection, view, workspace, sense } = ground;
  const { capacity } = collection;
  const keyword = workspace.take(capacity);
  scoreKeywords(question.terms, collection, view, keyword);
  const clauseKeyword = question.clauses.length > 1 ? bestClause(question, ground) : keyword;
  const similar = workspace.take(capacity);
  if (sense) scoreMeaning(question.text, sense, view, similar);
  const own = workspace.take(capacity);
  const first = workspace.take(capacity);
  for (let slot = 0; slot < capacity; slot++) {
    const both = (keyword[slot] as number) + MEANING_SHARE * (similar[slot] as number);
    own[slot] = both / (1 + MEANING_SHARE);
    first[slot] = both + CLAUSE_SHARE * (clauseKeyword[slot] as number);
  }
  const slots = highest(first, CANDIDATES, (a, b) => collection.compareIds(a, b));
  const support = siblingSupport(own, collection, view, slots);
  const clauseSimilar = clauseMeaning(question, slots, similar, sense);
  const pairs = Float64Array.from(slots, (slot) => pairScore(question, collection, slot));
  toShare(pairs);
  const ranked = slots.map((slot, i) => ({
    slot,
    score:
      weights.keyword * (keyword[slot] as number) +
      weights.meaning * (similar[slot] as number) +
      weights.clauseKeyword * (clauseKeyword[slot] as number) +
      weights.clauseMeaning * (clauseSimilar[i] as number) +
      weights.siblings * (support[i] as number) +
      weights.pair * (pairs[i] as number) +
      weights.action * actionScore(question.actions, collection, slot),
  }));
  return sorted(ranked, collection);
}

/** Each tool's keyword score for the clause it fits best. */
function bestClause({ clauses }: Question, { collection, view, workspace }: Ground): Float64Array {
  const pooled = workspace.take(collection.capacity);
  const scores = workspace.take(collection.capacity);
  for (const { terms } of clauses) {
    scores.fill(0);
    scoreKeywords(terms, collection, view, scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

function scoreMeaning(text: string, sense: Sense, { mask }: View, scores: Float64Array): void {
  const vector = sense.vectorOf(text);
  if (!vector) return;
  for (let slot = 0; slot < scores.length; slot++) {
    if (!mask || mask[slot] === 1) scores[slot] = sense.matrix.cosine(slot, vector);
  }
  toShare(scores);
}

/** Each candidate's similarity to the clause it fits best. */
function clauseMeaning(
  { clauses }: Question,
  slots: readonly number[],
  similar: Float64Array,
  sense: Sense | undefined,
): Float64Array {
  if (!sense || clauses.length === 1) return Float64Array.from(slots, (slot) => similar[slot] as number);
  const pooled = new Float64Array(slots.length);
  for (const { text } of clauses) {
    const vector = sense.vectorOf(text);
    if (!vector) continue;
    const scores = Float64Array.from(slots, (slot) => sense.matrix.cosine(slot, vector));
    toShare(scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

function sorted(ranked: Ranked[], collection: Collection): Ranked[] {
  return ranked.sort((a, b) => b.score - a.score || collection.compareIds(a.slot, b.slot));
}
