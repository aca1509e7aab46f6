/**
 * Translates everyday expressions into words that tools use: "PR" into pull request, "get rid of" into
 * delete. Loaded at the first search.
 */
import { readShipped } from "../../home/shipped.ts";
import { isContent, words } from "./words.ts";

const FILE = "words/everyday.txt";
const LINE = /^([^#=:>]+)([=:>])(.+)$/;
/** "PRs" and "files", but not "is" or "class". */
const PLURAL = /..[^s]s$|.[^aeious]s$/;
/** After these words a verb says what to do. */
const BEFORE_VERBS: ReadonlySet<string> = new Set(
  "to please you and then i we can could let me would ll also just or must should will now help".split(" "),
);

/** A part of a question: one word, or an expression of several words. */
export interface Token {
  /** Empty for an expression of several words, because they have their meaning only together. */
  readonly word: string;
  /** Words that tools may use for it, the most likely first. */
  readonly meanings: readonly string[];
}

interface Expression {
  readonly words: readonly string[];
  readonly meanings: readonly string[];
  /**
   * "=": means all of these words together. ":": means any of them. ">": means any of them, and only in verb
   * position.
   */
  readonly kind: string;
}

export class EverydayWords {
  /** By their first word, the longest first. */
  readonly #expressions = new Map<string, Expression[]>();

  /** Reads lines of the form `expression, expression = words`; data/words/README.md describes them. */
  constructor(text: string) {
    for (const line of text.split("\n")) {
      const [, expressions = "", kind = "", meanings = ""] = LINE.exec(line) ?? [];
      for (const expression of expressions.split(","))
        this.#add({ words: words(expression).map(singular), meanings: words(meanings), kind });
    }
    for (const list of this.#expressions.values()) list.sort((a, b) => b.words.length - a.words.length);
  }

  /** Takes all words of a text. Returns its tokens without stop words. */
  tokenize(allWords: readonly string[]): Token[] {
    const singulars = allWords.map(singular);
    const out: Token[] = [];
    for (let at = 0; at < allWords.length; ) {
      const verbPosition = out.length === 0 || BEFORE_VERBS.has(allWords[at - 1] as string);
      const expression = this.#find(singulars, at, verbPosition);
      const here = allWords.slice(at, at + (expression?.words.length ?? 1));
      at += here.length;
      if (expression && expression.kind !== "=") {
        const word = here.length === 1 ? (here[0] as string) : "";
        out.push({ word, meanings: expression.meanings });
        continue;
      }
      // Some tools use the shorthand too, so a single word is kept beside its meaning.
      const kept = here.length === 1 ? here : [];
      for (const word of [...kept, ...(expression?.meanings ?? [])].filter(isContent)) {
        out.push({ word, meanings: [] });
      }
    }
    return out;
  }

  #find(singulars: readonly string[], at: number, verbPosition: boolean): Expression | undefined {
    return this.#expressions
      .get(singulars[at] as string)
      ?.find(
        ({ words: list, kind }) =>
          (verbPosition || kind !== ">") && list.every((one, i) => singulars[at + i] === one),
      );
  }

  #add(expression: Expression): void {
    const [first] = expression.words;
    if (first === undefined) return;
    const list = this.#expressions.get(first);
    if (list) list.push(expression);
    else this.#expressions.set(first, [expression]);
  }
}

/**
 * Expressions are compared in the singular. Stems are not used, because "product" has the same stem as
 * "production".
 */
function singular(word: string): string {
  return PLURAL.test(word) ? word.slice(0, -1) : word;
}

let loaded: Promise<EverydayWords> | undefined;

/**
 * Reads the file once. Without it there are no expressions, and search uses the words of the question only.
 */
export function loadEverydayWords(): Promise<EverydayWords> {
  loaded ??= readShipped(FILE).then((bytes) => new EverydayWords(bytes?.toString("utf8") ?? ""));
  return loaded;
}
