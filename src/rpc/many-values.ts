/**
 * Whether parsing this JSON would take long. A parser is fast for long strings and slow for many values, and
 * it cannot be interrupted: a few megabytes of empty objects block it for seconds.
 */
import type { Raw } from "../kernel/raw.ts";
import { endOfString } from "./value-end.ts";

const QUOTE = 0x22;
const MAX_VALUES = 100_000;
/** Different keys cost a parser several times as much as values. */
const MAX_KEYS = 25_000;

/** Whether there are more values, or more keys in all objects together. Stops counting there. */
export function hasManyValues(raw: Raw, mostValues = MAX_VALUES, mostKeys = MAX_KEYS): boolean {
  if (raw.length <= Math.min(mostValues, mostKeys)) return false;
  let [values, keys] = [0, 0];
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (c === QUOTE) i = endOfString(raw, i) - 1;
    // A value begins after each of these: , [ {
    else if ((c === 0x2c || c === 0x5b || c === 0x7b) && ++values > mostValues) return true;
    else if (c === 0x3a && ++keys > mostKeys) return true;
  }
  return false;
}
