/**
 * Parses a question: its terms with their weights in the view, its clauses, adjacent words, kinds of action
 * and similar examples.
 */
import { actionsOf } from "./actions.ts";
import type { AskedActions } from "./asked-actions.ts";
import { splitClauses } from "./clauses.ts";
import type { Collection } from "./collection.ts";
import type { EverydayWords, Token } from "./everyday-words.ts";
import type { Examples, SimilarGroup } from "./examples.ts";
import { describeLiterals } from "./literals.ts";
import { correctTypo, splitCompound } from "./spelling.ts";
import { synonymsOf } from "./synonyms.ts";
import type { SearchView } from "./view.ts";
import type { WordTable } from "./word-table.ts";
import { isContent, words } from "./words.ts";

/** A term to search for. */
export interface Term {
  /** Negative if no tool in view has the word itself. Then only its synonyms are found. */
  readonly id: number;
  /** Inverse document frequency in the view, reduced for verbs and for synonyms. */
  readonly weight: number;
  /** Terms that may stand in its place. If a tool has several of them, only the best counts. */
  readonly synonyms: readonly Term[];
  /** Names an action, not what it is done to. */
  readonly verb: boolean;
}

/** Two adjacent terms. */
export interface Pair {
  /** The sum of their weights. */
  readonly weight: number;
}

/** The question or one of its clauses. */
export interface Phrase {
  readonly text: string;
  /** Without stop words, with corrected spelling. */
  readonly words: readonly string[];
  readonly terms: readonly Term[];
}

export interface Question extends Phrase {
  /** All words as asked, without spaces between them, to compare with names. */
  readonly compact: string;
  /** The question may be the name of a tool: it has no spaces, or only stop words. */
  readonly mayBeName: boolean;
  /** Only the question itself if it has a single clause. */
  readonly clauses: readonly Phrase[];
  /** Adjacent terms: by the first term, then by the second. */
  readonly pairs: ReadonlyMap<number, ReadonlyMap<number, Pair>>;
  /** How likely each kind of action is asked for; see `AskedActions`. */
  readonly actions: Float64Array;
  /** The most similar first. */
  readonly similarExamples: readonly SimilarGroup[];
  /** Words that no tool in view has. */
  readonly unknown: readonly string[];
}

const MAX_QUESTION_LENGTH = 4_000;
const MAX_CLAUSES = 8;
/** Words of one question that are checked for typing errors. Each is compared with all words of all tools. */
const MAX_TYPOS = 16;
const MAX_JOINED_LENGTH = 24;
/** Weight of a synonym, compared with the word itself. */
const SYNONYM_WEIGHT = 0.6;
/**
 * Weight of the meanings of an everyday expression if no tool in view has the word itself, or if it has
 * several words.
 */
const MEANING_WEIGHT = 0.9;
/** Weight of a verb, compared with other words: tools "get" and "add" all kinds of things. */
export const VERB_WEIGHT = 0.6;
const NO_TERM = -1;

/** The texts of the phrases that `parseQuestion` makes: the whole question first, then its clauses. */
export function textsOf(query: string): string[] {
  const text = describeLiterals(query.slice(0, MAX_QUESTION_LENGTH));
  return [text, ...splitClauses(text, MAX_CLAUSES)];
}

/** What is known about the language of questions, independent of tools. */
export interface Language {
  readonly everyday: EverydayWords;
  readonly examples: Examples;
  readonly actions: AskedActions;
  /** Undefined if there are no word vectors. */
  readonly table: WordTable | undefined;
  /** Words of the language are not corrected, even if no tool has them. */
  isWord(word: string): boolean;
}

export function parseQuestion(
  query: string,
  collection: Collection,
  view: SearchView,
  language: Language,
): Question {
  const [text = "", ...clauses] = textsOf(query);
  const parser = new PhraseParser(collection, view, language);
  const allWords = words(text);
  const whole = parser.phrase(text, allWords);
  return {
    ...whole,
    compact: words(query.slice(0, MAX_QUESTION_LENGTH)).join(""),
    mayBeName: whole.words.length === 0 || !/\s/.test(query.trim()),
    clauses: clauses.length > 0 ? clauses.map((clause) => parser.phrase(clause, words(clause))) : [whole],
    pairs: parser.pairs(whole.words),
    similarExamples: language.examples.similarTo(allWords, language.table),
    actions: language.actions.of(allWords),
    unknown: whole.words.filter((word) => !parser.term(word)),
  };
}

/** Parses the phrases of one question. Looks up and corrects each word only once. */
class PhraseParser {
  readonly #collection: Collection;
  readonly #view: SearchView;
  readonly #language: Language;
  readonly #terms = new Map<string, Term | undefined>();
  readonly #corrections = new Map<string, readonly string[]>();
  #typos = 0;

  constructor(collection: Collection, view: SearchView, language: Language) {
    this.#collection = collection;
    this.#view = view;
    this.#language = language;
  }

  /** `allWords`: the words of the text. */
  phrase(text: string, allWords: readonly string[]): Phrase {
    const tokens = this.#language.everyday.tokenize(allWords);
    const corrected = tokens.flatMap((token) => this.#corrected(token));
    const content = corrected.map(({ word, meanings: [first = ""] }) => word || first).filter(isContent);
    const joined = this.#joined(content);
    const all = [...corrected, ...joined.map(plainToken)];
    return { text, words: [...content, ...joined], terms: this.#termsOf(all) };
  }

  /** The term of the word itself, without synonyms; undefined if no tool in view has it. */
  term(word: string): Term | undefined {
    if (!this.#terms.has(word)) this.#terms.set(word, this.#weighted(this.#collection.lexicon.term(word)));
    return this.#terms.get(word);
  }

  pairs(list: readonly string[]): Map<number, Map<number, Pair>> {
    const pairs = new Map<number, Map<number, Pair>>();
    for (let i = 0; i + 1 < list.length; i++) {
      const a = this.term(list[i] as string);
      const b = this.term(list[i + 1] as string);
      if (!a || !b) continue;
      const following = pairs.get(a.id) ?? new Map<number, Pair>();
      pairs.set(a.id, following.set(b.id, { weight: a.weight + b.weight }));
    }
    return pairs;
  }

  #corrected(token: Token): readonly Token[] {
    return token.meanings.length > 0 ? [token] : this.#correct(token.word).map(plainToken);
  }

  #correct(word: string): readonly string[] {
    if (this.term(word)) return [word];
    let corrected = this.#corrections.get(word);
    if (!corrected) {
      const known = (other: string): boolean => this.term(other) !== undefined;
      corrected = splitCompound(word, known) ?? [this.#withoutTypo(word)];
      this.#corrections.set(word, corrected);
    }
    return corrected;
  }

  #withoutTypo(word: string): string {
    if (this.#language.isWord(word) || ++this.#typos > MAX_TYPOS) return word;
    const isInView = (id: number): boolean => this.#collection.hasWord(id, this.#view.mask);
    return correctTypo(word, this.#collection.lexicon, isInView) ?? word;
  }

  /** Adjacent words that a tool writes as one: "screen shot" also searches for "screenshot". */
  #joined(list: readonly string[]): string[] {
    const out: string[] = [];
    for (let i = 0; i + 1 < list.length; i++) {
      const joined = `${list[i]}${list[i + 1]}`;
      if (joined.length <= MAX_JOINED_LENGTH && this.term(joined)) out.push(joined);
    }
    return out;
  }

  #termsOf(tokens: readonly Token[]): Term[] {
    const terms = new Map<number, Term>();
    const ownTerms = new Set(tokens.map(({ word }) => this.term(word)?.id));
    for (const { word, meanings } of tokens) {
      const own = isContent(word) ? this.term(word) : undefined;
      const { lexicon } = this.#collection;
      const synonyms = [
        ...synonymsOf(word).map((root) => this.#synonym(lexicon.termOfStem(root), root, SYNONYM_WEIGHT)),
        ...meanings.map((one) =>
          this.#synonym(lexicon.term(one), one, own ? SYNONYM_WEIGHT : MEANING_WEIGHT),
        ),
      ].filter((term) => term !== undefined && !ownTerms.has(term.id)) as Term[];
      if (!own && synonyms.length === 0) continue;
      const id = own?.id ?? NO_TERM - (synonyms[0] as Term).id;
      const verb = actionsOf(word) !== 0;
      const weight = (own?.weight ?? 0) * (verb ? VERB_WEIGHT : 1);
      if (!terms.has(id)) terms.set(id, { id, weight, synonyms, verb });
    }
    return [...terms.values()];
  }

  #synonym(id: number | undefined, word: string, weight: number): Term | undefined {
    const term = this.#weighted(id);
    return term && { ...term, weight: weight * term.weight, verb: actionsOf(word) !== 0 };
  }

  #weighted(id: number | undefined): Term | undefined {
    const count = id === undefined ? 0 : this.#view.count(id);
    if (id === undefined || count === 0) return undefined;
    return { id, weight: this.#view.idfOfCount(count), synonyms: [], verb: false };
  }
}

function plainToken(word: string): Token {
  return { word, meanings: [] };
}
