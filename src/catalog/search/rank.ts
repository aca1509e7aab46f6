/** Orders tools for a question by seven kinds of evidence, each in 0..1. The weights were fitted with whole groups of data left out. */
import { bits } from "./actions.ts";
import type { Collection } from "./collection.ts";
import type { Meaning } from "./meaning.ts";
import { PAIR, type Question, type Term } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";
import type { EvidenceWeights } from "./settings.ts";
import { siblingSupport } from "./siblings.ts";
import type { View } from "./view.ts";

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/** Tools that the finer evidence is gathered for. */
const CANDIDATES = 200;
/** A tool whose action is not known is neither punished nor favoured. */
const UNKNOWN_ACTION = 0.3;

export interface Ground {
  readonly collection: Collection;
  readonly view: View;
  /** Undefined where there are no vectors: then words alone decide. */
  readonly meaning: Meaning | undefined;
}

/** Keywords alone. */
export function rankByKeywords(question: Question, { collection, view }: Ground): Ranked[] {
  const scores = keywordScores(question.terms, collection, view);
  return sorted(
    best(scores, CANDIDATES).map((slot) => ({ slot, score: scores[slot] as number })),
    collection,
  );
}

export function rank(question: Question, ground: Ground, weights: EvidenceWeights): Ranked[] {
  const { collection, view, meaning } = ground;
  const { capacity } = collection;
  const keyword = keywordScores(question.terms, collection, view);
  const clauseKeyword = new Float64Array(capacity);
  for (const clause of question.clauses) {
    const scores = question.clauses.length === 1 ? keyword : keywordScores(clause.terms, collection, view);
    for (let slot = 0; slot < capacity; slot++) {
      if ((scores[slot] as number) > (clauseKeyword[slot] as number))
        clauseKeyword[slot] = scores[slot] as number;
    }
  }
  const similar = meaning ? similarities(question.text, capacity, view, meaning) : new Float64Array(capacity);
  const own = new Float64Array(capacity);
  const first = new Float64Array(capacity);
  for (let slot = 0; slot < capacity; slot++) {
    own[slot] = ((keyword[slot] as number) + 0.5 * (similar[slot] as number)) / 1.5;
    first[slot] = 1.5 * (own[slot] as number) + 0.5 * (clauseKeyword[slot] as number);
  }
  const slots = best(first, CANDIDATES);
  const support = siblingSupport(own, collection, view, slots);
  const clauseSimilar = clauseSimilarities(question, slots, similar, meaning);
  const pair = slots.map((slot) => pairScore(question, collection, slot));
  const bestPair = Math.max(1e-9, ...pair);
  const ranked = slots.map((slot, i) => ({
    slot,
    score:
      weights.keyword * (keyword[slot] as number) +
      weights.meaning * (similar[slot] as number) +
      weights.clauseKeyword * (clauseKeyword[slot] as number) +
      weights.clauseMeaning * (clauseSimilar[i] as number) +
      weights.siblings * (support[i] as number) +
      (weights.pair * (pair[i] as number)) / bestPair +
      weights.action * actionScore(question.actions, collection, slot),
  }));
  return sorted(ranked, collection);
}

function sorted(ranked: Ranked[], collection: Collection): Ranked[] {
  return ranked.sort((a, b) => b.score - a.score || compareIds(collection, a.slot, b.slot));
}

/** BM25F over the view, as a share of the best. */
function keywordScores(terms: readonly Term[], collection: Collection, view: View): Float64Array {
  const scores = new Float64Array(collection.capacity);
  for (const term of terms) collection.postings.accumulate(term.id, term.idf, scores);
  return toShare(scores, view.mask);
}

function similarities(text: string, capacity: number, view: View, meaning: Meaning): Float64Array {
  const scores = new Float64Array(capacity);
  const vector = meaning.question(text);
  for (let slot = 0; slot < capacity; slot++) {
    if (!view.mask || view.mask[slot] === 1) scores[slot] = meaning.matrix.cosine(slot, vector);
  }
  return toShare(scores, undefined);
}

/** Each candidate's similarity to the clause it fits best. */
function clauseSimilarities(
  question: Question,
  slots: readonly number[],
  similar: Float64Array,
  meaning: Meaning | undefined,
): Float64Array {
  if (!meaning || question.clauses.length === 1)
    return Float64Array.from(slots, (slot) => similar[slot] as number);
  const pooled = new Float64Array(slots.length);
  for (const clause of question.clauses) {
    const vector = meaning.question(clause.text);
    const scores = toShare(
      Float64Array.from(slots, (slot) => meaning.matrix.cosine(slot, vector)),
      undefined,
    );
    for (let i = 0; i < pooled.length; i++) pooled[i] = Math.max(pooled[i] as number, scores[i] as number);
  }
  return pooled;
}

function toShare(scores: Float64Array, mask: Uint8Array | undefined): Float64Array {
  let most = 1e-6;
  for (let i = 0; i < scores.length; i++) {
    if (mask && mask[i] !== 1) scores[i] = 0;
    if ((scores[i] as number) > most) most = scores[i] as number;
  }
  const unit = 1 / most;
  for (let i = 0; i < scores.length; i++) scores[i] = Math.max(0, scores[i] as number) * unit;
  return scores;
}

/** The slots with the highest scores above zero, in no particular order. */
function best(scores: Float64Array, most: number): number[] {
  const positive: number[] = [];
  for (let slot = 0; slot < scores.length; slot++) if ((scores[slot] as number) > 0) positive.push(slot);
  if (positive.length <= most) return positive;
  const floor = Float64Array.from(positive, (slot) => scores[slot] as number).sort()[
    positive.length - most
  ] as number;
  return positive.filter((slot) => (scores[slot] as number) >= floor);
}

function pairScore(question: Question, collection: Collection, slot: number): number {
  const placed = collection.at(slot);
  if (!placed || question.pairs.size === 0) return 0;
  const { segment } = placed;
  const i = collection.indexOf(slot);
  const found = new Set<number>();
  const read = (words: Int32Array, from: number, to: number): void => {
    for (let at = from; at + 1 < to; at++) {
      const pair =
        collection.lexicon.termOf(words[at] as number) * PAIR +
        collection.lexicon.termOf(words[at + 1] as number);
      if (question.pairs.has(pair)) found.add(pair);
    }
  };
  for (let f = 0; f < 3; f++) read(segment.words, fieldStart(segment, i, f), fieldEnd(segment, i, f));
  read(segment.serverWords, 0, segment.serverWords.length);
  let sum = 0;
  for (const pair of found) sum += question.pairs.get(pair) ?? 0;
  return sum;
}

function actionScore(asked: number, collection: Collection, slot: number): number {
  const offered = collection.at(slot)?.segment.actions[collection.indexOf(slot)] ?? 0;
  return offered === 0 ? UNKNOWN_ACTION : bits(offered & asked) / bits(offered);
}

function compareIds(collection: Collection, a: number, b: number): number {
  const left = `${collection.at(a)?.segment.server}:${collection.nameOf(a)}`;
  const right = `${collection.at(b)?.segment.server}:${collection.nameOf(b)}`;
  return left < right ? -1 : left > right ? 1 : 0;
}
