/** Limits for values from outside, so that checking one takes milliseconds and recursion never overflows. */
import { pointer } from "../kernel/field-problem.ts";

/** More than the config of thousands of tools. */
export const MAX_VALUES = 20_000;
const MAX_KEYS = 5_000;
/** More than any config object needs, and far too little for recursion to overflow the stack. */
const MAX_DEPTH = 64;
/** The level of /document/servers in a body: one key for each object of the config. */
export const SECTIONS = 2;
const SURROGATE = /\p{Cs}/u;

export interface ValueFault {
  /** HTTP. */
  readonly status: 400 | 413 | 422;
  readonly reason: string;
  /** Of the wrong text, for 422. */
  readonly path?: string;
}

/**
 * A value that is too deep or too wide, or a text with an unpaired surrogate, which would change when it is
 * encoded as UTF-8. Objects at the level `wide` may have any number of keys.
 */
export function faultIn(value: unknown, { wide = -1 } = {}): ValueFault | undefined {
  const found = firstFault(value, MAX_DEPTH, wide);
  if (!Array.isArray(found)) return found;
  const path = pointer("", ...found).replace(/\p{Cs}/gu, "\u{fffd}");
  const reason = "has an unpaired surrogate, which is not a character";
  return { status: 422, reason, path };
}

/** The fault, or the keys on the way to the first text with an unpaired surrogate. */
function firstFault(value: unknown, depth: number, wide: number): ValueFault | string[] | undefined {
  if (typeof value === "string") return SURROGATE.test(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return { status: 400, reason: `the body may have at most ${MAX_DEPTH} nested levels` };
  const keys = Object.keys(value);
  if (keys.length > MAX_KEYS && wide !== 0 && !Array.isArray(value))
    return { status: 413, reason: `an object in the body may have at most ${MAX_KEYS} keys` };
  for (const key of keys) {
    if (SURROGATE.test(key)) return [key];
    const fault = firstFault((value as Record<string, unknown>)[key], depth - 1, wide - 1);
    if (fault !== undefined) return Array.isArray(fault) ? [key, ...fault] : fault;
  }
  return undefined;
}
