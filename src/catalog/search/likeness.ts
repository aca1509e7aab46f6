/** How far a tool is what questions like this one want, by the words of its name. */
import { actionsOf } from "./actions.ts";
import type { Alike } from "./examples.ts";
import type { Ground } from "./ground.ts";
import type { Question, Term } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";
import { rarity } from "./view.ts";

type WorthOf = (term: number) => number;

/** A name that is looked for. */
interface WantedName {
  readonly terms: ReadonlySet<number>;
  readonly length: number;
  /** How alike the question is that wants it. */
  readonly closeness: number;
}

/** For each of `slots` how well its name fits the best of the wanted names, in 0..1. */
export function likenessOf({ alike }: Question, ground: Ground, slots: readonly number[]): Float64Array {
  const worthOf = worthIn(ground);
  const wanted = alike.flatMap(({ closeness, names }) =>
    names.map((name) => wantedName(name, closeness, ground, worthOf)),
  );
  const sought = new Set(wanted.flatMap(({ terms }) => [...terms]));
  return Float64Array.from(slots, (slot) => {
    const written = nameTerms(ground, slot);
    if (!written.some((term) => sought.has(term))) return 0;
    const name = new Set(written);
    const length = lengthOf([...name].map(worthOf));
    let best = 0;
    for (const { terms, length: other, closeness } of wanted) {
      let common = 0;
      for (const term of name) if (terms.has(term)) common += worthOf(term) ** 2;
      best = Math.max(best, (closeness * common) / (length * other || 1));
    }
    return best;
  });
}

/** The words of the wanted names as terms to look for, each worth as much as its question is alike. */
export function hintsOf(alike: readonly Alike[], ground: Ground): Term[] {
  const worthOf = worthIn(ground);
  const hints = new Map<number, Term>();
  for (const { closeness, names } of alike) {
    for (const word of names.flatMap(subjectOf)) {
      const id = ground.collection.lexicon.term(word);
      const idf = id === undefined ? 0 : closeness * worthOf(id);
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

/** How rare a term is among the tools in view; counted once for each. */
function worthIn({ collection, view }: Ground): WorthOf {
  const known = new Map<number, number>();
  return (term) => {
    const worth = known.get(term) ?? rarity(collection.postings.count(term, view.mask), view);
    known.set(term, worth);
    return worth;
  };
}

function wantedName(
  name: readonly string[],
  closeness: number,
  { collection, view }: Ground,
  worthOf: WorthOf,
): WantedName {
  const ids = name.map((word) => collection.lexicon.term(word));
  // A word that no tool has counts as much as one that only tools out of view have.
  const worths = ids.map((id) => (id === undefined ? rarity(0, view) : worthOf(id)));
  return { terms: new Set(ids.filter((id) => id !== undefined)), length: lengthOf(worths), closeness };
}

function nameTerms({ collection }: Ground, slot: number): readonly number[] {
  const segment = collection.at(slot)?.segment;
  if (!segment) return [];
  const i = collection.indexOf(slot);
  const name = segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, 0));
  return Array.from(name, (word) => collection.lexicon.termOf(word));
}

function lengthOf(worths: readonly number[]): number {
  return Math.hypot(...worths);
}
