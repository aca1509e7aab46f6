/** Numbers for words and for what they stem to, so that everything after reading is arithmetic. Only ever grows. */
import { stem } from "./stem.ts";

const MOST_WORDS = 500_000;

export class Lexicon {
  readonly #words = new Map<string, number>();
  readonly #terms = new Map<string, number>();
  readonly #texts: string[] = [];
  #termOf = new Int32Array(1024);

  /** The word's number; a new one if it was never seen. Undefined once there are too many: no honest list comes near. */
  intern(word: string): number | undefined {
    const known = this.#words.get(word);
    if (known !== undefined || this.#texts.length >= MOST_WORDS) return known;
    const id = this.#texts.push(word) - 1;
    this.#words.set(word, id);
    if (id >= this.#termOf.length) {
      const larger = new Int32Array(this.#termOf.length * 2);
      larger.set(this.#termOf);
      this.#termOf = larger;
    }
    const root = stem(word);
    const term = this.#terms.get(root) ?? this.#terms.size;
    this.#terms.set(root, term);
    this.#termOf[id] = term;
    return id;
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

  word(id: number): string {
    return this.#texts[id] ?? "";
  }

  get words(): number {
    return this.#texts.length;
  }

  get terms(): number {
    return this.#terms.size;
  }
}
