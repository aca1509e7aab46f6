/** A question taken apart: its terms and what they are worth in this view, its clauses, its word pairs, its verbs. */
import { actionsOf } from "./actions.ts";
import { clauses } from "./clauses.ts";
import type { Collection } from "./collection.ts";
import type { Everyday, Piece } from "./everyday.ts";
import type { Examples, SimilarGroup } from "./examples.ts";
import { intentOf } from "./intent.ts";
import { kinOf } from "./kindred.ts";
import { takeApart, withoutTypo } from "./repair.ts";
import { nameThings } from "./things.ts";
import type { SearchView } from "./view.ts";
import type { WordTable } from "./word-table.ts";
import { isContent, words } from "./words.ts";

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

/** Two terms side by side. */
export interface Pair {
  /** The sum of their idf. */
  readonly worth: number;
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
  /** Adjacent terms: the first, those that follow it, and what each pair is worth. */
  readonly pairs: ReadonlyMap<number, ReadonlyMap<number, Pair>>;
  readonly actions: number;
  /** Groups of similar examples, the most similar first. */
  readonly similar: readonly SimilarGroup[];
  /** Words that no tool in view has. */
  readonly unknown: readonly string[];
}

const LONGEST_QUESTION = 4_000;
const MOST_CLAUSES = 8;
/** Typing errors looked for in one question: each is compared with all words there are. */
const MOST_TYPOS = 16;
/** What a word of nearly the same meaning counts beside the word itself. */
const KIN_WEIGHT = 0.6;
/** What it counts where no tool in view has the word itself, or several words together meant it. */
const ALONE_WEIGHT = 0.9;
/** What a verb counts beside what it is done to: any tool can "get" or "add" something. */
export const VERB_SHARE = 0.6;
const NO_TERM = -1;

/** The texts that `readQuestion` makes phrases of, the whole first. */
export function textsOf(query: string): string[] {
  const text = nameThings(query.slice(0, LONGEST_QUESTION));
  return [text, ...clauses(text, MOST_CLAUSES)];
}

export interface Language {
  readonly everyday: Everyday;
  readonly examples: Examples;
  /** Undefined where there are no word vectors. */
  readonly table: WordTable | undefined;
  /** Knows the language's words, which are no typing errors though no tool has them. */
  isWord(word: string): boolean;
}

export function readQuestion(
  query: string,
  collection: Collection,
  view: SearchView,
  language: Language,
): Question {
  const [text = "", ...parts] = textsOf(query);
  const reader = new Reader(collection, view, language);
  const said = words(text);
  const pieces = language.everyday.read(said);
  const partPieces = parts.map((part) => language.everyday.read(words(part)));
  const whole = reader.phrase(text, pieces);
  return {
    ...whole,
    spoken: words(query.slice(0, LONGEST_QUESTION)).join(""),
    terse: whole.words.length === 0 || !/\s/.test(query.trim()),
    clauses: parts.length > 0 ? parts.map((part, i) => reader.phrase(part, partPieces[i] ?? [])) : [whole],
    pairs: reader.pairs(whole.words),
    similar: language.examples.similarTo(said, language.table),
    actions: intentOf(said, [...pieces, ...partPieces.flat()]) || actionsOf(whole.words),
    unknown: whole.words.filter((word) => !reader.term(word)),
  };
}

class Reader {
  readonly #collection: Collection;
  readonly #view: SearchView;
  readonly #language: Language;
  readonly #terms = new Map<string, Term | undefined>();
  readonly #repairs = new Map<string, readonly string[]>();
  #typos = 0;

  constructor(collection: Collection, view: SearchView, language: Language) {
    this.#collection = collection;
    this.#view = view;
    this.#language = language;
  }

  phrase(text: string, read: readonly Piece[]): Phrase {
    const pieces = read.flatMap((piece) => this.#mended(piece));
    const said = pieces.map(({ word, meant: [first = ""] }) => word || first).filter(isContent);
    const joined = this.#joined(said);
    const all = [...pieces, ...joined.map(plain)];
    return { text, words: [...said, ...joined], terms: this.#withKin(all) };
  }

  /** The word's own term, if a tool in view has it. */
  term(word: string): Term | undefined {
    if (!this.#terms.has(word)) this.#terms.set(word, this.#worth(this.#collection.lexicon.term(word)));
    return this.#terms.get(word);
  }

  pairs(list: readonly string[]): Map<number, Map<number, Pair>> {
    const pairs = new Map<number, Map<number, Pair>>();
    for (let i = 0; i + 1 < list.length; i++) {
      const a = this.term(list[i] as string);
      const b = this.term(list[i + 1] as string);
      if (!a || !b) continue;
      const following = pairs.get(a.id) ?? new Map<number, Pair>();
      pairs.set(a.id, following.set(b.id, { worth: a.idf + b.idf }));
    }
    return pairs;
  }

  #mended(piece: Piece): readonly Piece[] {
    return piece.meant.length > 0 ? [piece] : this.#mend(piece.word).map(plain);
  }

  #mend(word: string): readonly string[] {
    if (this.term(word)) return [word];
    let mended = this.#repairs.get(word);
    if (!mended) {
      const known = (other: string): boolean => this.term(other) !== undefined;
      mended = takeApart(word, known) ?? [this.#spelled(word)];
      this.#repairs.set(word, mended);
    }
    return mended;
  }

  #spelled(word: string): string {
    if (this.#language.isWord(word) || ++this.#typos > MOST_TYPOS) return word;
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

  #withKin(list: readonly Piece[]): Term[] {
    const terms = new Map<number, Term>();
    const said = new Set(list.map(({ word }) => this.term(word)?.id));
    for (const { word, meant } of list) {
      const own = isContent(word) ? this.term(word) : undefined;
      const { lexicon } = this.#collection;
      const kin = [
        ...kinOf(word).map((root) => this.#kin(lexicon.root(root), root, KIN_WEIGHT)),
        ...meant.map((one) => this.#kin(lexicon.term(one), one, own ? KIN_WEIGHT : ALONE_WEIGHT)),
      ].filter((term) => term !== undefined && !said.has(term.id)) as Term[];
      if (!own && kin.length === 0) continue;
      const id = own?.id ?? NO_TERM - (kin[0] as Term).id;
      const verb = actionsOf([word]) !== 0;
      const idf = (own?.idf ?? 0) * (verb ? VERB_SHARE : 1);
      if (!terms.has(id)) terms.set(id, { id, idf, kin, verb });
    }
    return [...terms.values()];
  }

  #kin(id: number | undefined, word: string, weight: number): Term | undefined {
    const term = this.#worth(id);
    return term && { ...term, idf: weight * term.idf, verb: actionsOf([word]) !== 0 };
  }

  #worth(id: number | undefined): Term | undefined {
    const count = id === undefined ? 0 : this.#view.count(id);
    if (id === undefined || count === 0) return undefined;
    return { id, idf: this.#view.rarity(count), kin: [], verb: false };
  }
}

function plain(word: string): Piece {
  return { word, meant: [], verbal: false };
}
