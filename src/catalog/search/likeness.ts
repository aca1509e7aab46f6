/** How far a tool is what questions like this one want, by the words of its name. */
import { actionsOf } from "./actions.ts";
import type { SimilarGroup } from "./examples.ts";
import type { Ground } from "./ground.ts";
import type { Question, Term } from "./question.ts";
import { fieldEnd, fieldStart } from "./segment.ts";

/** What a word that is there, but in singular for plural, counts: who wants `list issues` does not want `get_issue`. */
const OTHER_NUMBER = 0.6;

/** A word of a name. */
interface NameWord {
  readonly term: number;
  readonly plural: boolean;
}

/** A name that is looked for. */
interface WantedName {
  /** Those of its words that a tool has. */
  readonly words: readonly NameWord[];
  readonly length: number;
  /** How similar the examples are that want it. */
  readonly similarity: number;
}

/** For each of `slots` how well its name fits the best of the wanted names, in 0..1. */
export function likenessOf({ similar }: Question, ground: Ground, slots: readonly number[]): Float64Array {
  const { view } = ground;
  const wanted = similar.flatMap(({ similarity, names }) =>
    names.map((name) => wantedName(name, similarity, ground)),
  );
  const holders = holdersOf(wanted);
  /** What the name at hand has in common with each of the wanted. */
  const common = new Float64Array(wanted.length);
  return Float64Array.from(slots, (slot) => {
    const name = nameOf(ground, slot);
    if (!name.some(({ term }) => holders.has(term))) return 0;
    common.fill(0);
    for (const { term, plural } of name) {
      const square = view.worthOf(term) ** 2;
      for (const holder of holders.get(term) ?? NOBODY) {
        const share = holder.plural === plural ? square : OTHER_NUMBER * square;
        common[holder.at] = (common[holder.at] as number) + share;
      }
    }
    const length = lengthOf(name.map(({ term }) => view.worthOf(term)));
    let best = 0;
    for (const [at, { length: other, similarity }] of wanted.entries())
      best = Math.max(best, (similarity * (common[at] as number)) / (length * other || 1));
    return best;
  });
}

/** Which of the wanted names has a word, and how. */
interface Holder {
  readonly at: number;
  readonly plural: boolean;
}

const NOBODY: readonly Holder[] = [];

/** By term. */
function holdersOf(wanted: readonly WantedName[]): Map<number, Holder[]> {
  const holders = new Map<number, Holder[]>();
  for (const [at, { words }] of wanted.entries()) {
    for (const { term, plural } of words) {
      const list = holders.get(term);
      if (list) list.push({ at, plural });
      else holders.set(term, [{ at, plural }]);
    }
  }
  return holders;
}

/** The words of the wanted names as terms to look for, each worth as much as its question is alike. */
export function hintsOf(similar: readonly SimilarGroup[], ground: Ground): Term[] {
  const hints = new Map<number, Term>();
  for (const { similarity, names } of similar) {
    for (const word of names.flatMap(subjectOf)) {
      const id = ground.collection.lexicon.term(word);
      const idf = id === undefined ? 0 : similarity * ground.view.worthOf(id);
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

function wantedName(name: readonly string[], similarity: number, { collection, view }: Ground): WantedName {
  const words: NameWord[] = [];
  const worths = name.map((word) => {
    const term = collection.lexicon.term(word);
    // A word that no tool has counts as much as one that only tools out of view have.
    if (term === undefined) return view.rarity(0);
    addWord(words, term, word);
    return view.worthOf(term);
  });
  return { words, length: lengthOf(worths), similarity };
}

/** The words of a tool's name, but for numbers: `Weather_1_GetWeather` gets the weather. */
function nameOf({ collection }: Ground, slot: number): readonly NameWord[] {
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

/** Each term once. */
function addWord(words: NameWord[], term: number, word: string): void {
  if (!words.some((one) => one.term === term)) words.push({ term, plural: word.endsWith("s") });
}

function lengthOf(worths: readonly number[]): number {
  return Math.sqrt(worths.reduce((sum, worth) => sum + worth * worth, 0));
}
