/** How much of the question a tool contains, and how much of the tool's name the question contains. */
import { type Question, type Term, VERB_WEIGHT } from "./question.ts";
import type { SearchContext } from "./search-context.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** Weight of a word that no tool has, as a share of the highest idf. */
const UNKNOWN_WEIGHT = 0.6;

/** For each of `slots`: which share of the question, by weight of its terms, the tool contains. */
export function coverageOf(
  question: Question,
  context: SearchContext,
  slots: readonly number[],
): Float64Array {
  const { collection, view, workspace } = context;
  const unknown = new Set(question.unknown).size * UNKNOWN_WEIGHT * view.idfOfCount(0);
  const total = question.terms.reduce((sum, term) => sum + highestWeight(term), unknown);
  const covered = workspace.take(collection.capacity);
  const best = workspace.take(collection.capacity);
  for (const { id, weight, synonyms } of question.terms) {
    if (synonyms.length > 0) best.fill(0);
    for (const term of synonyms) collection.postings.addPresence(term.id, term.weight, covered, best);
    collection.postings.addPresence(id, weight, covered, synonyms.length > 0 ? best : undefined);
  }
  const shares = Float64Array.from(slots, (slot) => (total > 0 ? (covered[slot] as number) / total : 0));
  workspace.releaseLast();
  workspace.releaseLast();
  return shares;
}

function highestWeight({ weight, synonyms }: Term): number {
  return Math.max(weight, ...synonyms.map((term) => term.weight));
}

/** For each of `slots`: which share of the tool's name, by idf of its words, the question contains. */
export function nameCoverageOf(
  question: Question,
  context: SearchContext,
  slots: readonly number[],
): Float64Array {
  const asked = new Map<number, number>();
  for (const term of question.terms) {
    for (const { id, verb } of [term, ...term.synonyms])
      asked.set(id, Math.max(asked.get(id) ?? 0, verb ? VERB_WEIGHT : 1));
  }
  return Float64Array.from(slots, (slot) => nameShare(asked, context, slot));
}

function nameShare(
  asked: ReadonlyMap<number, number>,
  { collection, view }: SearchContext,
  slot: number,
): number {
  const segment = collection.at(slot)?.segment;
  if (!segment) return 0;
  const i = collection.indexOf(slot);
  let total = 0;
  let found = 0;
  for (let at = fieldStart(segment, i, 0); at < fieldEnd(segment, i, 0); at++) {
    const word = segment.words[at] as number;
    const term = collection.lexicon.termOf(word);
    // Questions do not repeat numbers in names, like the 1 of `get_weather_1`.
    if (!asked.has(term) && collection.lexicon.isNumber(word)) continue;
    const idf = view.idf(term);
    total += idf;
    found += idf * (asked.get(term) ?? 0);
  }
  return total > 0 ? found / total : 0;
}
