/** Converts texts to JSON with a cache, because records repeat a few names very often. */
import { perObject } from "../kernel/per-object.ts";
import type { Raw } from "../kernel/raw.ts";
import { beginningAt, isKey } from "../rpc/slice.ts";

const MAX_CACHED = 2_000;
const LONGEST_CACHED = 128;
const cache = new Map<string, string>();

export function quoted(text: string): string {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const written = JSON.stringify(text);
  if (text.length <= LONGEST_CACHED) {
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(text, written);
  }
  return written;
}

const QUOTE = 0x22;
const SLOTS = 256;
const slots: ({ readonly text: string; readonly written: string } | undefined)[] = Array.from({
  length: SLOTS,
});

/**
 * JSON of the text that begins with the quote at this position. The cache is searched by its bytes, because
 * making a string first costs more. Undefined if the text is too long to cache.
 */
export function quotedAt(raw: Raw, quote: number): string | undefined {
  let slot = 0;
  for (let i = quote + 1; raw[i] !== QUOTE && i <= quote + LONGEST_CACHED; i++)
    slot = (slot * 31 + (raw[i] as number)) % SLOTS;
  const cached = slots[slot];
  if (cached && isKey(raw, quote, cached.text)) return cached.written;
  const text = beginningAt(raw, quote, LONGEST_CACHED + 1);
  if (text.length > LONGEST_CACHED) return undefined;
  const written = JSON.stringify(text);
  slots[slot] = { text, written };
  return written;
}

/** JSON of an object that never changes and occurs in many records. */
export const quotedObject = perObject((object: object): string => JSON.stringify(object));
