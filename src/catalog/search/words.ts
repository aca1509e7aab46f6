/**
 * Splits text into lower-case words: identifiers at capitals, digits and separators, scripts without spaces
 * into pairs of characters.
 */

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the and or but if then else of to in on at by for from with without into onto over under about as is are was were " +
    "be been being am do does did doing done have has had having i me my mine we us our ours you your yours he him his she " +
    "her hers it its they them their theirs this that these those there here what which who whom whose when where why how " +
    "can could will would shall should may might must not no nor so than too very just also please let lets some any all " +
    "each every both more most other such only own same up down out off again further once ve ll re don t s d m im want " +
    "wants wanted need needs needed like help tell know able using use used via per etc eg ie looking interested provide give"
  ).split(" "),
);

/** No tool has longer words. Longer runs of letters are data and are dropped. */
const MAX_WORD_LENGTH = 40;

/** Most texts of ours. Nothing in them is divided further. */
const PLAIN = /^[a-z]+(?: [a-z]+)*$/;
const ASCII_WORD = /[A-Za-z0-9]+(?:'[A-Za-z]+)?/g;
const CLITIC = /['’](?:s|t|re|ve|ll|d|m)$/i;
/** "PRs" and "URLs" stay one word. */
const ASCII_PARTS = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g;
const NON_ASCII = /[^\0-\x7f]/;
const ACCENTS = /[\u0300-\u036f]+/g;
const DIGIT = /^[0-9]/;

/** All words in their order, with stop words. */
export function words(text: string): string[] {
  return NON_ASCII.test(text) ? unicodeWords(text) : asciiWords(text);
}

/** Whether it is no stop word and no single ASCII letter. */
export function isContent(word: string): boolean {
  return (word.length > 1 || DIGIT.test(word) || NON_ASCII.test(word)) && !STOP_WORDS.has(word);
}

export function contentWords(text: string): string[] {
  return words(text).filter(isContent);
}

function asciiWords(text: string): string[] {
  const trimmed = text.trim();
  if (PLAIN.test(trimmed)) return trimmed.split(" ").filter((word) => word.length <= MAX_WORD_LENGTH);
  const out: string[] = [];
  for (const [word] of text.matchAll(ASCII_WORD)) {
    const bare = word.includes("'") ? word.replace(CLITIC, "").replaceAll("'", "") : word;
    for (const part of bare.match(ASCII_PARTS) ?? []) {
      if (part.length <= MAX_WORD_LENGTH) out.push(part.toLowerCase());
    }
  }
  return out;
}

/**
 * Patterns for all of Unicode. They take milliseconds to compile, so this happens at the first text that
 * needs them.
 */
interface Patterns {
  readonly word: RegExp;
  readonly parts: RegExp;
  /** A text that begins with a script without spaces between words. */
  readonly unspaced: RegExp;
}

let patterns: Patterns | undefined;

function compilePatterns(): Patterns {
  const scripts = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"];
  const unspaced = `[${scripts.map((script) => `\\p{Script=${script}}`).join("")}ー]`;
  const cased =
    "\\p{Lu}{2,}s(?!\\p{Ll})|\\p{Lu}+(?=\\p{Lu}\\p{Ll})|\\p{Lu}?[\\p{Ll}\\p{M}]+|\\p{Lu}+|\\p{N}+|[\\p{L}\\p{M}]+";
  return {
    word: /[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)?/gu,
    parts: new RegExp(`${unspaced}+|${cased}`, "gu"),
    unspaced: new RegExp(`^${unspaced}`, "u"),
  };
}

function unicodeWords(text: string): string[] {
  patterns ??= compilePatterns();
  const out: string[] = [];
  // Removes accents. Combining marks of other scripts are part of their letters and stay.
  const folded = text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
  for (const [word] of folded.matchAll(patterns.word)) {
    const bare = word.replace(CLITIC, "").replaceAll(/['’]/g, "");
    for (const part of bare.match(patterns.parts) ?? []) {
      if (patterns.unspaced.test(part)) addPairs(part, out);
      else if (part.length <= MAX_WORD_LENGTH) out.push(part.toLowerCase());
    }
  }
  return out;
}

function addPairs(run: string, out: string[]): void {
  const characters = Array.from(run);
  if (characters.length === 1) out.push(run);
  for (let i = 0; i + 1 < characters.length; i++) out.push(`${characters[i]}${characters[i + 1]}`);
}
