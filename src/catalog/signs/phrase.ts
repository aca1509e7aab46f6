/**
 * Finds phrases in the words of a text. A phrase is a row of slots with bounded gaps; from each word at most
 * `REACH` others are looked at and nothing is tried twice, so the time is linear.
 */
import type { SignSeverity } from "./sign.ts";
import type { Word } from "./words.ts";

export interface Phrase {
  readonly severity: SignSeverity;
  readonly slots: readonly Slot[];
  /** It counts also after a negation: it begins with one itself. */
  readonly negative: boolean;
}

interface Slot {
  readonly fits: (word: Word) => boolean;
  /** The first slot of a phrase: the whole words that fit, and beginnings of words. */
  readonly words: readonly string[];
  readonly beginnings: readonly string[];
  /** How many words may stand before it. */
  readonly gap: number;
  /** They may belong to the next sentence. */
  readonly crosses: boolean;
}

export interface PhraseFound {
  readonly severity: SignSeverity;
  readonly start: number;
  readonly end: number;
}

/** A slot `@name` fits words by this test. */
export type WordTests = Readonly<Record<string, (word: string) => boolean>>;

const NEGATIONS = new Set(
  "not never dont doesnt mustnt shouldnt cannot cant wont no avoid without nicht nie kein keine ne pas jamais no nunca não non mai не никогда".split(
    " ",
  ),
);
/** So many words before a phrase are searched for a negation. */
const NEGATED_WITHIN = 6;

/**
 * Reads phrases. A slot is `word|other|begin*|@test`; `<3>` before a slot allows three words between,
 * `<<3>>` also the end of a sentence. `NAME` in capitals stands for a group of words.
 */
export function phrasesOf(
  severity: SignSeverity,
  written: readonly string[],
  {
    groups = {},
    tests = {},
  }: { readonly groups?: Readonly<Record<string, string>>; readonly tests?: WordTests } = {},
): readonly Phrase[] {
  return written.map((phrase) => {
    const slots: Slot[] = [];
    let [gap, crosses] = [0, false];
    for (const part of phrase.split(" ")) {
      const size = /^<+(\d+)>+$/.exec(part)?.[1];
      if (size !== undefined) {
        gap = Number(size);
        crosses = part.startsWith("<<");
        continue;
      }
      slots.push(slotOf(part, { gap, crosses, groups, tests }));
      [gap, crosses] = [0, false];
    }
    const negative = slots[0]?.words.some((word) => NEGATIONS.has(word)) ?? false;
    return { severity, slots, negative };
  });
}

interface SlotContext {
  readonly gap: number;
  readonly crosses: boolean;
  readonly groups: Readonly<Record<string, string>>;
  readonly tests: WordTests;
}

function slotOf(part: string, { gap, crosses, groups, tests }: SlotContext): Slot {
  const choices = part.split("|").flatMap((choice) => groups[choice]?.split("|") ?? [choice]);
  const named = choices.flatMap((choice) => (choice.startsWith("@") ? [testOf(tests, choice)] : []));
  const beginnings = choices.flatMap((choice) => (choice.endsWith("*") ? [choice.slice(0, -1)] : []));
  const words = choices.filter((choice) => !choice.startsWith("@") && !choice.endsWith("*"));
  const whole = new Set(words);
  const fits = ({ text }: Word): boolean =>
    whole.has(text) || beginnings.some((begin) => text.startsWith(begin)) || named.some((test) => test(text));
  return { fits, words, beginnings, gap, crosses };
}

function testOf(tests: WordTests, choice: string): (word: string) => boolean {
  const test = tests[choice.slice(1)];
  if (!test) throw new Error(`there is no test ${choice}`);
  return test;
}

/** Phrases by their first word, to look at few of them for each word of a text. */
export class PhraseTable {
  readonly #byWord = new Map<string, Phrase[]>();
  /** Phrases whose first slot is not a list of whole words, by the first three letters or for any word. */
  readonly #byBeginning = new Map<string, Phrase[]>();
  readonly #others: Phrase[] = [];

  constructor(phrases: readonly Phrase[]) {
    for (const phrase of phrases) {
      const [first] = phrase.slots;
      if (!first) continue;
      for (const word of first.words) add(this.#byWord, word, phrase);
      for (const begin of first.beginnings) add(this.#byBeginning, begin.slice(0, 3), phrase);
      if (first.words.length + first.beginnings.length === 0) this.#others.push(phrase);
    }
  }

  find(words: readonly Word[]): readonly PhraseFound[] {
    const found: PhraseFound[] = [];
    for (let at = 0; at < words.length; at++) {
      const { text } = words[at] as Word;
      for (const list of [this.#byWord.get(text), this.#byBeginning.get(text.slice(0, 3)), this.#others])
        for (const phrase of list ?? []) {
          const one = matchAt(phrase, words, at);
          if (one) found.push(one);
        }
    }
    return found;
  }
}

function add(table: Map<string, Phrase[]>, key: string, phrase: Phrase): void {
  const list = table.get(key) ?? [];
  if (list.length === 0) table.set(key, list);
  list.push(phrase);
}

function matchAt(
  { severity, slots, negative }: Phrase,
  words: readonly Word[],
  from: number,
): PhraseFound | undefined {
  let at = from - 1;
  let last = words[from] as Word;
  for (const { fits, gap, crosses } of slots) {
    let next = at + 1;
    const end = at + 1 + gap;
    while (next <= end && !isFitting(words[next], fits, crosses ? undefined : last.sentence)) next++;
    if (next > end) return undefined;
    at = next;
    last = words[at] as Word;
  }
  const first = words[from] as Word;
  const negated = !negative && isNegated(words, from);
  // A text about such phrases quotes them, and "never send your key" is no attack.
  if ((negated || first.quoted) && severity === "soft") return undefined;
  const weaker = negated || first.quoted ? "soft" : severity;
  return { severity: weaker, start: first.start, end: last.end };
}

function isFitting(word: Word | undefined, fits: Slot["fits"], sentence: number | undefined): boolean {
  return word !== undefined && (sentence === undefined || word.sentence === sentence) && fits(word);
}

function isNegated(words: readonly Word[], from: number): boolean {
  const { sentence } = words[from] as Word;
  for (let at = from - 1; at >= 0 && at >= from - NEGATED_WITHIN; at--) {
    const word = words[at] as Word;
    if (word.sentence !== sentence) return false;
    if (NEGATIONS.has(word.text)) return true;
  }
  return false;
}
