/**
 * Splits a text into words for the phrases: lower case, without invisible characters, with letters that only
 * look Latin as Latin ones. Each word keeps its place in the text.
 */
import { lookOf } from "./look.ts";

export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The number of its sentence. */
  readonly sentence: number;
  /** It stands in quotation marks. */
  readonly quoted: boolean;
}

/** Runs of characters that can be in a word, a path or an address. One class, so it cannot backtrack. */
const RUN = /[\p{L}\p{N}\p{M}\p{Cf}_~./@:$'’%+&=?#-]+/gu;
/** The same for texts in ASCII, which is three times as fast. */
const PLAIN_RUN = /[\w~./@:$'%+&=?#-]+/g;
const PLAIN_TEXT = /^[\t\n\r -~]*$/;
const PLAIN = /^[\x20-\x7e]+$/;
const EDGE_START = /^[.:'’/?=&+#%-]$/;
const EDGE_END = /^[.:'’/?=&+#%$-]$/;
const STOP = /[.!?。！？]/;
const QUOTES = /["“”«»„`「」]/g;
const MARKS = /['’]/g;

export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  let sentence = 0;
  let quoted = false;
  let last = 0;
  for (const { 0: run, index } of text.matchAll(PLAIN_TEXT.test(text) ? PLAIN_RUN : RUN)) {
    const between = text.slice(last, index);
    last = index + run.length;
    if (between !== " ") {
      if ((between.match(QUOTES)?.length ?? 0) % 2 === 1) quoted = !quoted;
      if (STOP.test(between)) sentence++;
    }
    let [from, to] = [0, run.length];
    while (from < to && EDGE_START.test(run[from] as string) && !isPathStart(run, from)) from++;
    while (to > from && EDGE_END.test(run[to - 1] as string)) to--;
    if (from < to) {
      const inner = run.slice(from, to);
      const plain = (PLAIN.test(inner) ? inner.toLowerCase() : lookOf(inner)).replaceAll(MARKS, "");
      if (plain !== "") words.push({ text: plain, start: index + from, end: index + to, sentence, quoted });
    }
    if (to < run.length && STOP.test(run.slice(to))) sentence++;
  }
  return words;
}

/** `.env` and `/etc` begin with such a character. */
function isPathStart(run: string, at: number): boolean {
  return (run[at] === "." || run[at] === "/") && /^[\p{L}.~]$/u.test(run[at + 1] ?? "");
}
