/**
 * Whether parsing this JSON would take long. A parser is fast for long strings and slow for many values, and it cannot be interrupted:
 * a few megabytes of empty objects block it for seconds.
 */
import type { Raw } from "../kernel/raw.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MAX_VALUES = 100_000;

/** Whether there are more than `most` values. Stops counting there. */
export function hasManyValues(raw: Raw, most = MAX_VALUES): boolean {
  if (raw.length <= most) return false;
  let values = 0;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (c === QUOTE) i = closingQuote(raw, i);
    // A value begins after each of these: , [ {
    else if ((c === 0x2c || c === 0x5b || c === 0x7b) && ++values > most) return true;
  }
  return false;
}

/** Uses native search, because most of a large payload is in few long strings. */
function closingQuote(raw: Raw, from: number): number {
  for (let i = raw.indexOf(QUOTE, from + 1); i >= 0; i = raw.indexOf(QUOTE, i + 1)) {
    let escapes = 0;
    while (raw[i - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return i;
  }
  return raw.length;
}
