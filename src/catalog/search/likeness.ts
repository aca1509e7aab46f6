/** How far a tool is what questions like this one want, by the words of its name. */
import { actionsOf } from "./actions.ts";
import type { Alike } from "./examples.ts";
import type { Ground } from "./ground.ts";
import type { Question, Term } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** A name that is looked for. */
interface WantedName {
  readonly terms: readonly number[];
  readonly length: number;
  /** How alike the question is that wants it. */
  readonly closeness: number;
}

/** For each of `slots` how well its name fits the best of the wanted names, in 0..1. */
export function likenessOf({ alike }: Question, ground: Ground, slots: readonly number[]): Float64Array {
  const { view } = ground;
  const wanted = alike.flatMap(({ closeness, names }) =>
    names.map((name) => wantedName(name, closeness, ground)),
  );
  const holders = holdersOf(wanted);
  /** What the name at hand has in common with each of the wanted. */
  const common = new Float64Array(wanted.length);
  return Float64Array.from(slots, (slot) => {
    const name = nameTerms(ground, slot);
    if (!name.some((term) => holders.has(term))) return 0;
    common.fill(0);
    for (const term of name) {
      const square = view.worthOf(term) ** 2;
      for (const at of holders.get(term) ?? NOBODY) common[at] = (common[at] as number) + square;
    }
    const length = lengthOf(name.map((term) => view.worthOf(term)));
    let best = 0;
    for (const [at, { length: other, closeness }] of wanted.entries())
      best = Math.max(best, (closeness * (common[at] as number)) / (length * other || 1));
    return best;
  });
}

const NOBODY: readonly number[] = [];

/** Which of the names hold each term. */
function holdersOf(wanted: readonly WantedName[]): Map<number, number[]> {
  const holders = new Map<number, number[]>();
  for (const [at, { terms }] of wanted.entries()) {
    for (const term of terms) {
      const list = holders.get(term);
      if (list) list.push(at);
      else holders.set(term, [at]);
    }
  }
  return holders;
}

/** The words of the wanted names as terms to look for, each worth as much as its question is alike. */
export function hintsOf(alike: readonly Alike[], ground: Ground): Term[] {
  const hints = new Map<number, Term>();
  for (const { closeness, names } of alike) {
    for (const word of names.flatMap(subjectOf)) {
      const id = ground.collection.lexicon.term(word);
      const idf = id === undefined ? 0 : closeness * ground.view.worthOf(id);
      if (id !== undefined && idf > (hints.get(id)?.idf ?? 0))
        hints.set(id, { id, idf, kin: [], verb: false });
    }
  }
  return [...hints.values()];
}

/** What a name is about: a tool that can "get" or "search" something else is no likelier for it. */
function subjectOf(name: readonly string[]): readonly string[] {
  const subject = name.filter((word) => actionsOf([word]) === 0);
  return subject.length > 0 ? subject : name;
}

function wantedName(name: readonly string[], closeness: number, { collection, view }: Ground): WantedName {
  const ids = name.map((word) => collection.lexicon.term(word));
  // A word that no tool has counts as much as one that only tools out of view have.
  const worths = ids.map((id) => (id === undefined ? view.rarity(0) : view.worthOf(id)));
  const terms = [...new Set(ids.filter((id) => id !== undefined))];
  return { terms, length: lengthOf(worths), closeness };
}

/** The distinct terms of its name, but for numbers: `Weather_1_GetWeather` gets the weather. */
function nameTerms({ collection }: Ground, slot: number): readonly number[] {
  const segment = collection.at(slot)?.segment;
  if (!segment) return [];
  const i = collection.indexOf(slot);
  const terms: number[] = [];
  for (let at = fieldStart(segment, i, 0); at < fieldEnd(segment, i, 0); at++) {
    const word = segment.words[at] as number;
    const term = collection.lexicon.termOf(word);
    if (!terms.includes(term) && !collection.lexicon.isNumber(word)) terms.push(term);
  }
  return terms;
}

function lengthOf(worths: readonly number[]): number {
  return Math.sqrt(worths.reduce((sum, worth) => sum + worth * worth, 0));
}
