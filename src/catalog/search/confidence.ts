/** How likely a hit is what was asked for, by what can be seen of it: comparable between questions and catalogs. */
import { type Collection, wordsOf } from "./collection.ts";
import type { Ground } from "./ground.ts";
import type { Question, Term } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { fieldEnd, fieldStart, type Segment } from "./segment.ts";

/** What a hit shows, each in 0..1. */
export interface Signs {
  /** Which share of the question, by rarity, the tool speaks of. */
  readonly coverage: number;
  /** Which share of the tool's name, by rarity, was asked for. */
  readonly named: number;
  /** Cosine of meanings, less where the question holds words that mean nothing. */
  readonly close: number;
  /** How far it stands out among the first hits: its share of them. */
  readonly ahead: number;
}

/** Hits that compete for being the right one. */
export const RIVALS = 10;
/** How sharply scores tell rivals apart. */
const SHARPNESS = 6;
/** A word that no tool has counts as one that few have. */
const UNKNOWN_SHARE = 0.6;
/** Of a hit whose name is the question. */
export const CALLED_BY_NAME = 0.96;

/** Fitted on public data with groups of sets left out; see design/retrieval.md. */
const FITTED = { base: -3.1, coverage: 1.4, named: 1.7, ahead: 2.8 } as const;
/** Below this much in common, by words or by meaning, standing out means little: nonsense finds something too. */
const GROUNDED = 0.35;

export function confidenceOf({ coverage, named, close, ahead }: Signs): number {
  const sum = FITTED.base + FITTED.coverage * coverage + FITTED.named * named + FITTED.ahead * ahead;
  const grounded = Math.min(1, Math.max(coverage, close) / GROUNDED);
  return Math.round((1000 * grounded) / (1 + Math.exp(-sum))) / 1000;
}

/** For each of `ranked`, which is in order and holds the rivals. */
export function signsOf(question: Question, ground: Ground, ranked: readonly Ranked[]): Signs[] {
  const { collection, view, sense } = ground;
  const vector = sense?.vectorOf(question);
  const rarest = Math.log(1 + (view.size + 0.5) / 0.5);
  const unknown = new Set(question.unknown).size * UNKNOWN_SHARE * rarest;
  const total = question.terms.reduce((sum, term) => sum + worthOf(term), unknown);
  const sensible = sensibleShare(question, ground);
  const rivals = ranked.slice(0, RIVALS).map(({ score }) => Math.exp(SHARPNESS * score));
  const field = rivals.reduce((sum, rival) => sum + rival, 0);
  return ranked.map(({ slot, score }) => {
    const held = heldTerms(collection, slot);
    const covered = question.terms.reduce((sum, term) => sum + coveredBy(held, term), 0);
    return {
      coverage: total > 0 ? covered / total : 0,
      named: namedShare(question, ground, slot),
      close: vector && sense ? sensible * Math.max(0, sense.matrix.cosine(slot, vector)) : 0,
      ahead: field > 0 ? Math.exp(SHARPNESS * score) / field : 0,
    };
  });
}

/** The share of the question's words that are words at all. */
function sensibleShare({ words, unknown }: Question, { sense }: Ground): number {
  const strange = unknown.filter((word) => !sense?.isWord(word)).length;
  return words.length > 0 ? 1 - strange / words.length : 0;
}

function worthOf({ idf, kin }: Term): number {
  return Math.max(idf, ...kin.map((term) => term.idf));
}

function coveredBy(held: ReadonlySet<number>, { id, idf, kin }: Term): number {
  let best = held.has(id) ? idf : 0;
  for (const term of kin) if (term.idf > best && held.has(term.id)) best = term.idf;
  return best;
}

function heldTerms(collection: Collection, slot: number): Set<number> {
  const held = new Set<number>();
  for (const list of wordsOf(collection, slot)) {
    for (const word of list) held.add(collection.lexicon.termOf(word));
  }
  return held;
}

function namedShare(question: Question, { collection, view }: Ground, slot: number): number {
  const segment = collection.at(slot)?.segment;
  if (!segment) return 0;
  const asked = new Set<number>();
  for (const { id, kin } of question.terms)
    for (const one of [id, ...kin.map((term) => term.id)]) asked.add(one);
  let total = 0;
  let found = 0;
  for (const word of nameWords(segment, collection.indexOf(slot))) {
    const term = collection.lexicon.termOf(word);
    const count = collection.postings.count(term, view.mask);
    const idf = Math.log(1 + (view.size - count + 0.5) / (count + 0.5));
    total += idf;
    if (asked.has(term)) found += idf;
  }
  return total > 0 ? found / total : 0;
}

function nameWords(segment: Segment, i: number): Int32Array {
  return segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, 0));
}
