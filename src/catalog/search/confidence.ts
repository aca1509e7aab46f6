/** How likely a hit is what was asked for, by what can be seen of it: comparable between questions and catalogs. */
import { type Collection, wordsOf } from "./collection.ts";
import type { Ground } from "./ground.ts";
import type { Question, Term } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { fieldEnd, fieldStart, type Segment } from "./segment.ts";
import { rarity } from "./view.ts";

/** What a hit shows; in 0..1 where nothing else is said. */
export interface Signs {
  /** Which share of the question, by rarity, the tool speaks of. */
  readonly coverage: number;
  /** Which share of the tool's name, by rarity, was asked for. */
  readonly named: number;
  /** Cosine of meanings. */
  readonly close: number;
  /** Which share of the question's words are words at all. */
  readonly sensible: number;
  /** How far it stands out among the first hits: its share of them. */
  readonly ahead: number;
  /** By how much it beats the next, or is beaten by the first; 0 where it is alone. */
  readonly lead: number;
}

/** Hits that compete for being the right one. */
export const RIVALS = 10;
/** How sharply scores tell rivals apart. */
const SHARPNESS = 4;
/** Who is further ahead or behind is not surer. */
const MOST_LEAD = 2;
/** A word that no tool has counts as one that few have. */
const UNKNOWN_SHARE = 0.6;
const LATIN = /^[a-z]/;
/** Of a hit whose name is the question. */
export const CALLED_BY_NAME = 0.96;

/** Fitted on public data with groups of sets left out; see design/retrieval.md. */
const FITTED = { base: -1.8, coverage: 0.5, named: 1.4, ahead: 1, lead: 1.1 } as const;
/** Below this much in common, by words or by meaning, standing out means little: nonsense finds something too. */
const GROUNDED = 0.35;
/** Below this share of words that are some, it is mostly nonsense. */
const SENSIBLE = 0.75;

export function confidenceOf({ coverage, named, close, sensible, ahead, lead }: Signs): number {
  const said = FITTED.coverage * coverage + FITTED.named * named;
  const sum = FITTED.base + said + FITTED.ahead * ahead + FITTED.lead * lead;
  const grounded = Math.min(1, Math.max(coverage, close) / GROUNDED) * Math.min(1, sensible / SENSIBLE);
  return Math.round((1000 * grounded) / (1 + Math.exp(-sum))) / 1000;
}

/** What was asked for and found in it counts most; measured with and without the servers that do what is asked. */
const FIT = { coverage: 0.5, close: 0.25, confidence: 0.25 } as const;

/** Whether it is of any use, which many can be: unlike confidence it does not fall where others fit as well. */
export function fitOf({ coverage, close }: Pick<Signs, "coverage" | "close">, confidence: number): number {
  if (confidence === CALLED_BY_NAME) return confidence;
  const fit = FIT.coverage * coverage + FIT.close * close + FIT.confidence * confidence;
  return Math.round(1000 * fit) / 1000;
}

/** For each of `ranked`, which is in order and holds the rivals. */
export function signsOf(question: Question, ground: Ground, ranked: readonly Ranked[]): Signs[] {
  const { collection, view, sense } = ground;
  const vector = sense?.vectorOf(question);
  const unknown = new Set(question.unknown).size * UNKNOWN_SHARE * rarity(0, view);
  const total = question.terms.reduce((sum, term) => sum + worthOf(term), unknown);
  const sensible = sensibleShare(question, ground);
  const [first = 0, second = first] = ranked.map(({ score }) => score);
  // Whom nobody competes with is compared with nothing, lest a small catalog make everything sure.
  const field = Array.from({ length: RIVALS }, (_, i) => Math.exp(SHARPNESS * (ranked[i]?.score ?? 0)));
  const all = field.reduce((sum, rival) => sum + rival, 0);
  return ranked.map(({ slot, score }, i) => {
    const held = heldTerms(collection, slot);
    const covered = question.terms.reduce((sum, term) => sum + coveredBy(held, term), 0);
    return {
      coverage: total > 0 ? covered / total : 0,
      named: namedShare(question, ground, slot),
      close: vector && sense ? Math.max(0, sense.matrix.cosine(slot, vector)) : 0,
      sensible,
      ahead: Math.exp(SHARPNESS * score) / all,
      lead: Math.max(-MOST_LEAD, Math.min(MOST_LEAD, score - (i === 0 ? second : first))),
    };
  });
}

/** Numbers, and what is not written in Latin letters, cannot be judged and count as words. */
function sensibleShare({ words, unknown }: Question, { sense }: Ground): number {
  const strange = unknown.filter((word) => LATIN.test(word) && !sense?.isWord(word)).length;
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
    const idf = rarity(collection.postings.count(term, view.mask), view);
    total += idf;
    if (asked.has(term)) found += idf;
  }
  return total > 0 ? found / total : 0;
}

function nameWords(segment: Segment, i: number): Int32Array {
  return segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, 0));
}
