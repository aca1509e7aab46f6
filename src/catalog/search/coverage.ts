/** How far a question and a tool speak of the same: how much of the question the tool holds, how much of its name was asked for. */
import type { Ground } from "./ground.ts";
import { type Question, type Term, VERB_SHARE } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** A word that no tool has counts as one that few have. */
const UNKNOWN_SHARE = 0.6;

/** Which share of the question, by rarity, each of these tools speaks of. */
export function coverageOf(question: Question, ground: Ground, slots: readonly number[]): Float64Array {
  const { collection, view, workspace } = ground;
  const unknown = new Set(question.unknown).size * UNKNOWN_SHARE * view.rarity(0);
  const total = question.terms.reduce((sum, term) => sum + worthOf(term), unknown);
  const covered = workspace.take(collection.capacity);
  const peaks = workspace.take(collection.capacity);
  for (const { id, idf, kin } of question.terms) {
    if (kin.length > 0) peaks.fill(0);
    for (const term of kin) collection.postings.mark(term.id, term.idf, covered, peaks);
    collection.postings.mark(id, idf, covered, kin.length > 0 ? peaks : undefined);
  }
  const shares = Float64Array.from(slots, (slot) => (total > 0 ? (covered[slot] as number) / total : 0));
  workspace.giveBack();
  workspace.giveBack();
  return shares;
}

function worthOf({ idf, kin }: Term): number {
  return Math.max(idf, ...kin.map((term) => term.idf));
}

/** Which share of each tool's name, by rarity, was asked for. */
export function namedOf(question: Question, ground: Ground, slots: readonly number[]): Float64Array {
  const asked = new Map<number, number>();
  for (const term of question.terms) {
    for (const { id, verb } of [term, ...term.kin])
      asked.set(id, Math.max(asked.get(id) ?? 0, verb ? VERB_SHARE : 1));
  }
  return Float64Array.from(slots, (slot) => namedShare(asked, ground, slot));
}

function namedShare(asked: ReadonlyMap<number, number>, { collection, view }: Ground, slot: number): number {
  const segment = collection.at(slot)?.segment;
  if (!segment) return 0;
  const i = collection.indexOf(slot);
  let total = 0;
  let found = 0;
  for (let at = fieldStart(segment, i, 0); at < fieldEnd(segment, i, 0); at++) {
    const word = segment.words[at] as number;
    const term = collection.lexicon.termOf(word);
    // Who asks for a thing does not know that it is the second of its name.
    if (!asked.has(term) && collection.lexicon.isNumber(word)) continue;
    const idf = view.worthOf(term);
    total += idf;
    found += idf * (asked.get(term) ?? 0);
  }
  return total > 0 ? found / total : 0;
}
