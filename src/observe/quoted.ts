/** Texts as JSON. Records repeat a few names without end, so each is written once. */
import type { Raw } from "../kernel/raw.ts";
import { isKey, textAt } from "../rpc/slice.ts";

const MOST_KNOWN = 2_000;
const LONGEST_KNOWN = 128;
const known = new Map<string, string>();

export function quoted(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const written = JSON.stringify(text);
  if (text.length <= LONGEST_KNOWN) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(text, written);
  }
  return written;
}

const QUOTE = 0x22;
const PLACES = 256;
const names: ({ readonly text: string; readonly written: string } | undefined)[] = Array.from({
  length: PLACES,
});

/** The text whose opening quote is there, found by its letters: to cut it out first costs more. Undefined where it is longer than names are. */
export function quotedAt(raw: Raw, quote: number): string | undefined {
  let place = 0;
  for (let i = quote + 1; raw[i] !== QUOTE && i <= quote + LONGEST_KNOWN; i++)
    place = (place * 31 + (raw[i] as number)) % PLACES;
  const before = names[place];
  if (before && isKey(raw, quote, before.text)) return before.written;
  const text = textAt(raw, quote);
  if (text.length > LONGEST_KNOWN) return undefined;
  const written = JSON.stringify(text);
  names[place] = { text, written };
  return written;
}

const texts = new WeakMap<object, string>();

/** The same of an object that never changes and stands in many records. */
export function quotedObject(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}
