/** Orders tools for a question by eleven kinds of evidence, each in 0..1. Knows nothing of where vectors come from. */
import type { Collection } from "./collection.ts";
import { coverageOf, namedOf } from "./coverage.ts";
import { actionScore, freshness, isNamed, pairsOf } from "./detail.ts";
import type { Ground, Sense } from "./ground.ts";
import { aboveMean, poolHighest, scoreKeywords, toShare } from "./keyword.ts";
import { hintsOf, likenessOf } from "./likeness.ts";
import type { Phrase, Question, Term } from "./question.ts";
import { highest } from "./select.ts";
import type { EvidenceWeights } from "./settings.ts";
import { siblingSupport } from "./siblings.ts";
import type { SearchView } from "./view.ts";

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/** Tools that the finer evidence is gathered for. */
const CANDIDATES = 100;
/** What meaning counts beside keywords when candidates are chosen and siblings judged. */
const MEANING_SHARE = 0.5;
const CLAUSE_SHARE = 0.5;
/** What the names that questions like this one want count beside keywords when candidates are chosen. */
const HINT_SHARE = 1;
/** A question that is only somewhat alike may be about something that has no examples: what it wants counts less than in proportion. */
const LIKENESS_STEEPNESS = 1.5;
/** The least cosine of a tool that has no word in common with the question. */
const NEAR = 0.3;
/** Who is called by name comes first: more than all evidence together. */
const NAMED = 10;

/** How a question is answered: the order of its hits is the same, however many of them are wanted. */
export interface Wish {
  readonly most: number;
  readonly weights: EvidenceWeights;
}

/** Keywords alone. */
export function rankByKeywords(question: Question, ground: Ground, { most }: Pick<Wish, "most">): Ranked[] {
  const { collection, workspace } = ground;
  const scores = workspace.take(collection.capacity);
  scoreKeywords(question.terms, ground, scores);
  const slots = candidates(scores, question, ground);
  const ranked = slots.map((slot) => ({
    slot,
    score: (scores[slot] as number) + bonus(question, collection, slot),
  }));
  return withRest(sorted(ranked, collection), scores, most, collection);
}

/** Plain words: all count the same, however rare, and nothing stands in for them. */
export function rankByWords(question: Question, ground: Ground, wish: Pick<Wish, "most">): Ranked[] {
  const terms = question.terms
    .filter(({ idf }) => idf > 0)
    .map(({ id }) => ({ id, idf: 1, kin: [], verb: false }));
  return rankByKeywords({ ...question, terms }, ground, wish);
}

export function rank(question: Question, ground: Ground, { weights, most }: Wish): Ranked[] {
  const { collection, view, workspace, sense } = ground;
  const { capacity } = collection;
  const keyword = workspace.take(capacity);
  scoreKeywords(question.terms, ground, keyword);
  const clauseKeyword = question.clauses.length > 1 ? bestClause(question, ground) : keyword;
  const similar = workspace.take(capacity);
  const near = sense ? NEAR / scoreMeaning(question, sense, view, similar) : 0;
  const topic = topicScores(question, keyword, ground);
  const hinted = workspace.take(capacity);
  scoreKeywords(hintsOf(question.similar, ground), ground, hinted);
  const hint = HINT_SHARE * (question.similar[0]?.similarity ?? 0);
  const family = workspace.take(capacity);
  const first = workspace.take(capacity);
  for (let slot = 0; slot < capacity; slot++) {
    const said = (keyword[slot] as number) + CLAUSE_SHARE * (clauseKeyword[slot] as number);
    const meant = MEANING_SHARE * (similar[slot] as number);
    family[slot] = ((topic[slot] as number) + meant) / (1 + MEANING_SHARE);
    const hints = hint * (hinted[slot] as number);
    first[slot] = said > 0 || hints > 0 || (similar[slot] as number) >= near ? said + meant + hints : 0;
  }
  const slots = candidates(first, question, ground);
  const support = siblingSupport(family, collection, view, slots);
  const clauseSimilar = clauseMeaning(question, slots, similar, sense);
  const pairs = pairsOf(question, collection, slots);
  toShare(pairs);
  const like = likenessOf(question, ground, slots);
  const named = namedOf(question, ground, slots);
  const coverage = coverageOf(question, ground, slots);
  const ranked = slots.map((slot, i) => {
    const score =
      weights.keyword * (keyword[slot] as number) +
      weights.meaning * (similar[slot] as number) +
      weights.clauseKeyword * (clauseKeyword[slot] as number) +
      weights.clauseMeaning * (clauseSimilar[i] as number) +
      weights.siblings * (support[i] as number) +
      weights.pair * (pairs[i] as number) +
      weights.action * actionScore(question.actions, collection, slot) +
      weights.named * (named[i] as number) +
      weights.coverage * (coverage[i] as number) +
      weights.likeness * (like[i] as number) ** LIKENESS_STEEPNESS +
      weights.hints * hint * (hinted[slot] as number);
    return { slot, score: score * freshness(collection, slot) + bonus(question, collection, slot) };
  });
  return withRest(sorted(ranked, collection), first, most, collection);
}

/** Where more are wanted than were looked at closely: after those come the others, as they looked from afar. */
function withRest(closely: Ranked[], afar: Float64Array, most: number, collection: Collection): Ranked[] {
  const last = closely.at(-1);
  if (!last || closely.length < CANDIDATES || closely.length >= most) return closely;
  const taken = new Set(closely.map(({ slot }) => slot));
  const others = highest(afar, most, (a, b) => collection.compareIds(a, b)).filter(
    (slot) => !taken.has(slot),
  );
  const rest = sorted(
    others.map((slot) => ({ slot, score: afar[slot] as number })),
    collection,
  );
  const scale = last.score / (rest[0]?.score ?? 1);
  return [
    ...closely,
    ...rest.map(({ slot, score }) => ({ slot, score: Math.min(score * scale, last.score) })),
  ];
}

/** The highest, and whoever is called by a name whose words find nothing: `help`, `who_am_i`, `git.log`. */
function candidates(scores: Float64Array, question: Question, { collection, view }: Ground): number[] {
  const slots = highest(scores, CANDIDATES, (a, b) => collection.compareIds(a, b));
  if (!question.terse) return slots;
  const chosen = new Set(slots);
  for (let slot = 0; slot < collection.capacity; slot++) {
    if ((!view.mask || view.mask[slot] === 1) && isNamed(question, collection, slot)) chosen.add(slot);
  }
  return [...chosen];
}

function bonus(question: Question, collection: Collection, slot: number): number {
  return isNamed(question, collection, slot) ? NAMED : 0;
}

/** Keywords without verbs: a server that can also "create" and "get" other things is no likelier for it. */
function topicScores({ terms }: Question, keyword: Float64Array, ground: Ground): Float64Array {
  const topical = terms.map(withoutVerbs).filter(({ idf, kin }) => idf > 0 || kin.length > 0);
  if (topical.length === 0) return keyword;
  const scores = ground.workspace.take(keyword.length);
  scoreKeywords(topical, ground, scores);
  return scores;
}

/** A verb may still be about something: to remember is about memory. */
function withoutVerbs({ id, idf, kin, verb }: Term): Term {
  return { id, idf: verb ? 0 : idf, kin: kin.filter((term) => !term.verb), verb };
}

/** Each tool's keyword score for the clause it fits best. */
function bestClause({ clauses }: Question, ground: Ground): Float64Array {
  const { collection, workspace } = ground;
  const pooled = workspace.take(collection.capacity);
  const scores = workspace.take(collection.capacity);
  for (const { terms } of clauses) {
    scores.fill(0);
    scoreKeywords(terms, ground, scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

/** Returns the cosine that one share is worth; more than any where only what is above the mean counts. */
function scoreMeaning(phrase: Phrase, sense: Sense, view: SearchView, scores: Float64Array): number {
  const { mask } = view;
  const vector = sense.vectorOf(phrase);
  if (!vector) return 0;
  for (let slot = 0; slot < scores.length; slot++) {
    if (!mask || mask[slot] === 1) scores[slot] = sense.matrix.cosine(slot, vector);
  }
  if (sense.crowded) aboveMean(scores, view);
  const most = toShare(scores);
  return sense.crowded ? Number.POSITIVE_INFINITY : most;
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
  for (const clause of clauses) {
    const vector = sense.vectorOf(clause);
    if (!vector) continue;
    const scores = Float64Array.from(slots, (slot) => sense.matrix.cosine(slot, vector));
    if (sense.crowded) aboveMean(scores, { mask: undefined, size: slots.length });
    toShare(scores);
    poolHighest(pooled, scores);
  }
  return pooled;
}

function sorted(ranked: Ranked[], collection: Collection): Ranked[] {
  return ranked.sort((a, b) => b.score - a.score || collection.compareIds(a.slot, b.slot));
}
