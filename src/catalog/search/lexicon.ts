/**
 * Gives ids to words and to terms (their stems), so that ranking compares numbers instead of texts. Deletes
 * words that no tool uses any more.
 */
import { stem } from "./stem.ts";

const MAX_WORDS = 500_000;
/** In V8 a substring longer than this keeps the whole text in memory, so longer words are copied. */
const MAX_COPIED_BY_V8 = 12;
const DIGIT = /^[0-9]/;

export class Lexicon {
  readonly #words = new Map<string, number>();
  readonly #terms = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #termOf: number[] = [];
  /** How often each word is used, by word id. */
  readonly #uses: number[] = [];
  /** How many words each term has, by term id. */
  readonly #wordCounts: number[] = [];
  readonly #freeWords: number[] = [];
  readonly #freeTerms: number[] = [];

  /**
   * Returns the id of the word and counts one more use. Undefined for a new word if `room` is 0 or the
   * lexicon is full, which no normal catalog comes near.
   */
  intern(word: string, room = 1): number | undefined {
    const known = this.#words.get(word);
    if (known !== undefined) this.#uses[known] = (this.#uses[known] as number) + 1;
    if (known !== undefined || room <= 0 || this.#words.size >= MAX_WORDS) return known;
    const text = word.length > MAX_COPIED_BY_V8 ? Buffer.from(word).toString() : word;
    const id = this.#freeWords.pop() ?? this.#texts.length;
    this.#words.set(text, id);
    this.#texts[id] = text;
    this.#uses[id] = 1;
    this.#termOf[id] = this.#addToTerm(stem(text));
    return id;
  }

  /** Ends one use of each word. */
  release(words: Int32Array): void {
    for (const id of words) {
      const left = (this.#uses[id] as number) - 1;
      this.#uses[id] = left;
      if (left === 0) this.#delete(id);
    }
  }

  /** The term of a word; undefined if no tool has it. */
  term(word: string): number | undefined {
    return this.#terms.get(stem(word));
  }

  termOfStem(root: string): number | undefined {
    return this.#terms.get(root);
  }

  /** The term of a word id. */
  termOf(id: number): number {
    return this.#termOf[id] ?? -1;
  }

  /** Empty for a free id. */
  word(id: number): string {
    return this.#texts[id] ?? "";
  }

  /** The first digit decides, since a word consists either of digits or of letters. */
  isNumber(id: number): boolean {
    return DIGIT.test(this.word(id));
  }

  /** How many words are used. */
  get size(): number {
    return this.#words.size;
  }

  /** All word ids are below this number. */
  get wordCapacity(): number {
    return this.#texts.length;
  }

  /** All term ids are below this number. */
  get termCapacity(): number {
    return this.#wordCounts.length;
  }

  #addToTerm(root: string): number {
    let term = this.#terms.get(root);
    if (term === undefined) {
      term = this.#freeTerms.pop() ?? this.#wordCounts.length;
      this.#terms.set(root, term);
      this.#wordCounts[term] = 0;
    }
    this.#wordCounts[term] = (this.#wordCounts[term] as number) + 1;
    return term;
  }

  #delete(id: number): void {
    const text = this.word(id);
    const term = this.termOf(id);
    this.#words.delete(text);
    this.#texts[id] = "";
    this.#freeWords.push(id);
    const left = (this.#wordCounts[term] as number) - 1;
    this.#wordCounts[term] = left;
    if (left > 0) return;
    this.#terms.delete(stem(text));
    this.#freeTerms.push(term);
  }
}
