/**
 * Whether reading this JSON would take long. A parser is quick with long texts and slow with many values, and nothing
 * interrupts it: a few megabytes of empty objects keep it busy for seconds.
 */
import type { Raw } from "../kernel/raw.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MOST = 100_000;

/** Looks no further than that many. */
export function hasManyValues(raw: Raw): boolean {
  if (raw.length <= MOST) return false;
  let values = 0;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (c === QUOTE) i = closingQuote(raw, i);
    // One begins with each of these: , [ {
    else if ((c === 0x2c || c === 0x5b || c === 0x7b) && ++values > MOST) return true;
  }
  return false;
}

/** Native search: most of a large payload stands in few long texts. */
function closingQuote(raw: Raw, from: number): number {
  for (let i = raw.indexOf(QUOTE, from + 1); i >= 0; i = raw.indexOf(QUOTE, i + 1)) {
    let escapes = 0;
    while (raw[i - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return i;
  }
  return raw.length;
}
