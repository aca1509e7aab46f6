/**
 * Evidence from similar examples: how well a tool's name, or its texts, fit the names that the examples have.
 */
import { actionsOf } from "./actions.ts";
import type { SimilarGroup } from "./examples.ts";
import type { Question, Term } from "./question.ts";
import type { SearchContext } from "./search-context.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/**
 * Weight of a word that is singular in one name and plural in the other: `get_issue` does not fit `list
 * issues` well.
 */
const OTHER_NUMBER_WEIGHT = 0.6;

interface NameWord {
  readonly term: number;
  readonly plural: boolean;
}

/** A name of a similar example. */
interface ExampleName {
  /** Only words that a tool has. */
  readonly words: readonly NameWord[];
  /** Length of its vector of idf values, with the words that no tool has. */
  readonly length: number;
  /** How similar the question is to the examples with this name. */
  readonly similarity: number;
}

/**
 * For each of `slots`: how well the tool's name fits the best of the example names, in 0..1. The score is the
 * cosine of the two names, weighted by idf, times the similarity of the example.
 */
export function exampleNameScores(
  { similarExamples }: Question,
  context: SearchContext,
  slots: readonly number[],
): Float64Array {
  const { view } = context;
  const exampleNames = similarExamples.flatMap(({ similarity, names }) =>
    names.map((name) => exampleName(name, similarity, context)),
  );
  const occurrences = occurrencesByTerm(exampleNames);
  /**
   * For each example name: the sum of squared idf values of the words that it shares with the tool's name.
   */
  const shared = new Float64Array(exampleNames.length);
  return Float64Array.from(slots, (slot) => {
    const name = toolName(context, slot);
    if (!name.some(({ term }) => occurrences.has(term))) return 0;
    shared.fill(0);
    for (const { term, plural } of name) {
      const square = view.idf(term) ** 2;
      for (const occurrence of occurrences.get(term) ?? NONE) {
        const share = occurrence.plural === plural ? square : OTHER_NUMBER_WEIGHT * square;
        shared[occurrence.name] = (shared[occurrence.name] as number) + share;
      }
    }
    const length = lengthOf(name.map(({ term }) => view.idf(term)));
    let best = 0;
    for (const [at, { length: other, similarity }] of exampleNames.entries())
      best = Math.max(best, (similarity * (shared[at] as number)) / (length * other || 1));
    return best;
  });
}

/** A term in one of the example names. */
interface Occurrence {
  /** Index of the name. */
  readonly name: number;
  readonly plural: boolean;
}

const NONE: readonly Occurrence[] = [];

function occurrencesByTerm(names: readonly ExampleName[]): Map<number, Occurrence[]> {
  const occurrences = new Map<number, Occurrence[]>();
  for (const [name, { words }] of names.entries()) {
    for (const { term, plural } of words) {
      const list = occurrences.get(term);
      if (list) list.push({ name, plural });
      else occurrences.set(term, [{ name, plural }]);
    }
  }
  return occurrences;
}

/**
 * The words of the example names as terms to search for. A term weighs its idf times the similarity of its
 * example.
 */
export function exampleWords(similarExamples: readonly SimilarGroup[], context: SearchContext): Term[] {
  const terms = new Map<number, Term>();
  for (const { similarity, names } of similarExamples) {
    for (const word of names.flatMap(withoutVerbs)) {
      const id = context.collection.lexicon.term(word);
      const weight = id === undefined ? 0 : similarity * context.view.idf(id);
      if (id !== undefined && weight > (terms.get(id)?.weight ?? 0))
        terms.set(id, { id, weight, synonyms: [], verb: false });
    }
  }
  return [...terms.values()];
}

/**
 * Verbs do not count, because tools "get" and "search" all kinds of things; all words if the name has only
 * verbs.
 */
function withoutVerbs(name: readonly string[]): readonly string[] {
  const others = name.filter((word) => actionsOf(word) === 0);
  return others.length > 0 ? others : name;
}

function exampleName(
  name: readonly string[],
  similarity: number,
  { collection, view }: SearchContext,
): ExampleName {
  const words: NameWord[] = [];
  const idfs = name.map((word) => {
    const term = collection.lexicon.term(word);
    // The same value as for a word that only hidden tools have, so that these leave no trace.
    if (term === undefined) return view.idfOfCount(0);
    addWord(words, term, word);
    return view.idf(term);
  });
  return { words, length: lengthOf(idfs), similarity };
}

/** The words of a tool's name without numbers: `Weather_1_GetWeather` fits `get weather`. */
function toolName({ collection }: SearchContext, slot: number): readonly NameWord[] {
  const segment = collection.at(slot)?.segment;
  if (!segment) return [];
  const { lexicon } = collection;
  const i = collection.indexOf(slot);
  const words: NameWord[] = [];
  for (let at = fieldStart(segment, i, 0); at < fieldEnd(segment, i, 0); at++) {
    const word = segment.words[at] as number;
    if (!lexicon.isNumber(word)) addWord(words, lexicon.termOf(word), lexicon.word(word));
  }
  return words;
}

/** Adds each term only once. */
function addWord(words: NameWord[], term: number, word: string): void {
  if (!words.some((one) => one.term === term)) words.push({ term, plural: word.endsWith("s") });
}

function lengthOf(idfs: readonly number[]): number {
  return Math.sqrt(idfs.reduce((sum, idf) => sum + idf * idf, 0));
}
