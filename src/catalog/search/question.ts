/** A question taken apart: its terms and what they are worth in this view, its clauses, its word pairs, its verbs. */
import { actionsOf } from "./actions.ts";
import { clauses } from "./clauses.ts";
import type { Collection } from "./collection.ts";
import type { View } from "./view.ts";
import { isContent, words } from "./words.ts";

export interface Term {
  readonly id: number;
  /** How rare it is among the tools in view. */
  readonly idf: number;
}

export interface Clause {
  readonly text: string;
  readonly terms: readonly Term[];
}

export interface Question {
  /** Nothing was asked. */
  readonly empty: boolean;
  readonly text: string;
  readonly terms: readonly Term[];
  /** The question itself if it does not split. */
  readonly clauses: readonly Clause[];
  /** Adjacent terms, first * 2^26 + second, with the sum of their idf. */
  readonly pairs: ReadonlyMap<number, number>;
  readonly actions: number;
  /** Words no tool in view has. */
  readonly unknown: readonly string[];
}

const LONGEST_QUESTION = 4_000;
const MOST_CLAUSES = 8;
export const PAIR = 2 ** 26;

export function readQuestion(query: string, collection: Collection, view: View): Question {
  const text = query.slice(0, LONGEST_QUESTION);
  const known = new Map<string, Term | undefined>();
  const lookUp = (word: string): Term | undefined => {
    if (!known.has(word)) known.set(word, termOf(word, collection, view));
    return known.get(word);
  };
  const all = words(text);
  const content = all.filter(isContent);
  const parts = clauses(text, MOST_CLAUSES);
  return {
    empty: content.length === 0,
    text,
    terms: distinct(content, lookUp),
    clauses: (parts.length > 0 ? parts : [text]).map((part) => ({
      text: part,
      terms: distinct(words(part).filter(isContent), lookUp),
    })),
    pairs: pairsOf(content, lookUp),
    actions: actionsOf(content),
    unknown: [...known].filter(([, term]) => !term).map(([word]) => word),
  };
}

function termOf(word: string, collection: Collection, view: View): Term | undefined {
  const id = collection.lexicon.term(word);
  if (id === undefined) return undefined;
  const count = collection.postings.count(id, view.mask);
  if (count === 0) return undefined;
  return { id, idf: Math.log(1 + (view.size - count + 0.5) / (count + 0.5)) };
}

type LookUp = (word: string) => Term | undefined;

function distinct(list: readonly string[], lookUp: LookUp): Term[] {
  const terms = new Map<number, Term>();
  for (const word of list) {
    const term = lookUp(word);
    if (term) terms.set(term.id, term);
  }
  return [...terms.values()];
}

function pairsOf(list: readonly string[], lookUp: LookUp): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let i = 0; i + 1 < list.length; i++) {
    const a = lookUp(list[i] as string);
    const b = lookUp(list[i + 1] as string);
    if (a && b) pairs.set(a.id * PAIR + b.id, a.idf + b.idf);
  }
  return pairs;
}
