/** A question taken apart: its terms and what they are worth in this view, its clauses, its word pairs, its verbs. */
import { actionsOf } from "./actions.ts";
import { clauses } from "./clauses.ts";
import type { Collection } from "./collection.ts";
import { kinOf } from "./kindred.ts";
import { takeApart, withoutTypo } from "./repair.ts";
import { nameThings } from "./things.ts";
import { rarity, type View } from "./view.ts";
import { contentWords, words } from "./words.ts";

/** A term to look for, with others that may stand in for it. */
export interface Term {
  readonly id: number;
  /** How rare it is among the tools in view. */
  readonly idf: number;
  /** A tool that holds several counts the best of them once. */
  readonly kin: readonly Term[];
  /** Says what is to be done, not with what. */
  readonly verb: boolean;
}

/** A text to find tools for. */
export interface Phrase {
  readonly text: string;
  /** Without stop words, typing errors mended. */
  readonly words: readonly string[];
  readonly terms: readonly Term[];
}

export interface Question extends Phrase {
  /** All words as asked, without a space, to compare with a name. */
  readonly spoken: string;
  /** It may be nothing but a name: one word, or none that says anything. */
  readonly terse: boolean;
  /** The question itself if it does not split. */
  readonly clauses: readonly Phrase[];
  /** Adjacent terms, first * PAIR + second, with the sum of their idf. */
  readonly pairs: ReadonlyMap<number, number>;
  readonly actions: number;
  /** Words that no tool in view has. */
  readonly unknown: readonly string[];
}

const LONGEST_QUESTION = 4_000;
const MOST_CLAUSES = 8;
/** Typing errors looked for in one question: each is compared with all words there are. */
const MOST_TYPOS = 16;
/** Room for any term's number: a pair is one number, first * PAIR + second. */
export const PAIR = 2 ** 26;
/** What a word of nearly the same meaning counts beside the word itself. */
const KIN_WEIGHT = 0.6;
const NO_TERM = -1;

/** The texts that `readQuestion` makes phrases of, the whole first. */
export function textsOf(query: string): string[] {
  const text = nameThings(query.slice(0, LONGEST_QUESTION));
  return [text, ...clauses(text, MOST_CLAUSES)];
}

/** `isWord` knows the language's words, which are no typing errors though no tool has them. */
export function readQuestion(
  query: string,
  collection: Collection,
  view: View,
  isWord: (word: string) => boolean,
): Question {
  const [text = "", ...parts] = textsOf(query);
  const reader = new Reader(collection, view, isWord);
  const whole = reader.phrase(text);
  return {
    ...whole,
    spoken: words(query.slice(0, LONGEST_QUESTION)).join(""),
    terse: whole.words.length === 0 || !/\s/.test(query.trim()),
    clauses: parts.length > 0 ? parts.map((part) => reader.phrase(part)) : [whole],
    pairs: reader.pairs(whole.words),
    actions: actionsOf(whole.words),
    unknown: whole.words.filter((word) => !reader.term(word)),
  };
}

class Reader {
  readonly #collection: Collection;
  readonly #view: View;
  readonly #isWord: (word: string) => boolean;
  readonly #terms = new Map<string, Term | undefined>();
  readonly #mended = new Map<string, readonly string[]>();
  #typos = 0;

  constructor(collection: Collection, view: View, isWord: (word: string) => boolean) {
    this.#collection = collection;
    this.#view = view;
    this.#isWord = isWord;
  }

  phrase(text: string): Phrase {
    const said = contentWords(text).flatMap((word) => this.#mend(word));
    const all = [...said, ...this.#joined(said)];
    return { text, words: all, terms: this.#withKin(all) };
  }

  /** The word's own term, if a tool in view has it. */
  term(word: string): Term | undefined {
    if (!this.#terms.has(word)) this.#terms.set(word, this.#worth(this.#collection.lexicon.term(word)));
    return this.#terms.get(word);
  }

  pairs(list: readonly string[]): Map<number, number> {
    const pairs = new Map<number, number>();
    for (let i = 0; i + 1 < list.length; i++) {
      const a = this.term(list[i] as string);
      const b = this.term(list[i + 1] as string);
      if (a && b) pairs.set(a.id * PAIR + b.id, a.idf + b.idf);
    }
    return pairs;
  }

  #mend(word: string): readonly string[] {
    if (this.term(word)) return [word];
    let mended = this.#mended.get(word);
    if (!mended) {
      const known = (other: string): boolean => this.term(other) !== undefined;
      mended = takeApart(word, known) ?? [this.#spelled(word)];
      this.#mended.set(word, mended);
    }
    return mended;
  }

  #spelled(word: string): string {
    if (this.#isWord(word) || ++this.#typos > MOST_TYPOS) return word;
    const held = (id: number): boolean => this.#collection.holds(id, this.#view.mask);
    return withoutTypo(word, this.#collection.lexicon, held) ?? word;
  }

  /** "screen shot" also asks for "screenshot". */
  #joined(list: readonly string[]): string[] {
    const out: string[] = [];
    for (let i = 0; i + 1 < list.length; i++) {
      const joined = `${list[i]}${list[i + 1]}`;
      if (joined.length <= 24 && this.term(joined)) out.push(joined);
    }
    return out;
  }

  #withKin(list: readonly string[]): Term[] {
    const terms = new Map<number, Term>();
    const said = new Set(list.map((word) => this.term(word)?.id));
    for (const word of new Set(list)) {
      const own = this.term(word);
      const kin = kinOf(word)
        .map((root) => this.#worth(this.#collection.lexicon.root(root)))
        .filter((term) => term !== undefined && !said.has(term.id)) as Term[];
      if (!own && kin.length === 0) continue;
      const id = own?.id ?? NO_TERM - (kin[0] as Term).id;
      const weighed = kin.map((term) => ({ ...term, idf: KIN_WEIGHT * term.idf }));
      terms.set(id, { id, idf: own?.idf ?? 0, kin: weighed, verb: actionsOf([word]) !== 0 });
    }
    return [...terms.values()];
  }

  #worth(id: number | undefined): Term | undefined {
    const count = id === undefined ? 0 : this.#collection.postings.count(id, this.#view.mask);
    if (id === undefined || count === 0) return undefined;
    return { id, idf: rarity(count, this.#view), kin: [], verb: false };
  }
}
