/** Numbers for words and for what they stem to, so that everything after reading is arithmetic. Forgets words that nobody uses any more. */
import { stem } from "./stem.ts";

const MOST_WORDS = 500_000;
/** V8 keeps the text a longer word was cut from alive as long as the word. */
const LONGEST_COPIED = 12;
const DIGIT = /^[0-9]/;

export class Lexicon {
  readonly #words = new Map<string, number>();
  readonly #terms = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #termOf: number[] = [];
  /** How often each word is in use, and how many words each term has. */
  readonly #uses: number[] = [];
  readonly #members: number[] = [];
  readonly #freeWords: number[] = [];
  readonly #freeTerms: number[] = [];

  /** The word's number, once more in use. Undefined if it is new and `room` is 0, or there are too many: no honest list comes near. */
  intern(word: string, room = 1): number | undefined {
    const known = this.#words.get(word);
    if (known !== undefined) this.#uses[known] = (this.#uses[known] as number) + 1;
    if (known !== undefined || room <= 0 || this.#words.size >= MOST_WORDS) return known;
    const text = word.length > LONGEST_COPIED ? Buffer.from(word).toString() : word;
    const id = this.#freeWords.pop() ?? this.#texts.length;
    this.#words.set(text, id);
    this.#texts[id] = text;
    this.#uses[id] = 1;
    this.#termOf[id] = this.#join(stem(text));
    return id;
  }

  /** Ends one use of each. */
  release(words: Int32Array): void {
    for (const id of words) {
      const left = (this.#uses[id] as number) - 1;
      this.#uses[id] = left;
      if (left === 0) this.#forget(id);
    }
  }

  /** The term a word of a question belongs to, if any tool has it. */
  term(word: string): number | undefined {
    return this.#terms.get(stem(word));
  }

  /** The term with this stem. */
  root(root: string): number | undefined {
    return this.#terms.get(root);
  }

  termOf(id: number): number {
    return this.#termOf[id] ?? -1;
  }

  /** Empty for a number that is free. */
  word(id: number): string {
    return this.#texts[id] ?? "";
  }

  /** Words are cut where digits begin and end. */
  isNumber(id: number): boolean {
    return DIGIT.test(this.word(id));
  }

  /** How many words are in use. */
  get size(): number {
    return this.#words.size;
  }

  /** Numbers of words and of terms are below these. */
  get words(): number {
    return this.#texts.length;
  }

  get terms(): number {
    return this.#members.length;
  }

  #join(root: string): number {
    let term = this.#terms.get(root);
    if (term === undefined) {
      term = this.#freeTerms.pop() ?? this.#members.length;
      this.#terms.set(root, term);
      this.#members[term] = 0;
    }
    this.#members[term] = (this.#members[term] as number) + 1;
    return term;
  }

  #forget(id: number): void {
    const text = this.word(id);
    const term = this.termOf(id);
    this.#words.delete(text);
    this.#texts[id] = "";
    this.#freeWords.push(id);
    const left = (this.#members[term] as number) - 1;
    this.#members[term] = left;
    if (left > 0) return;
    this.#terms.delete(stem(text));
    this.#freeTerms.push(term);
  }
}
