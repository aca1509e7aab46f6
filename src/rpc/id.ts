/**
 * Ids and progress tokens, which have the same form. Those of the other side are compared and echoed as
 * written; ours are numbers.
 */
import { fromLatin1, type Raw, toLatin1 } from "../kernel/raw.ts";

export type IdKey = string | number;

/** Longer numbers may not be exact in a JavaScript number. */
const MAX_DIGITS = 15;
const LONGEST_DECODED = 1_024;

/** A map key for an id of the other side. Different spellings of the same id have the same key. */
export function idKey(raw: Raw): IdKey {
  const number = raw.length <= MAX_DIGITS && raw[0] !== 0x22 ? ownId(raw) : 0;
  // Other numbers (0, -1, 1.5) are rare and are compared as text.
  if (number > 0 && Number.isInteger(number)) return number;
  // Nobody spells such an id in two ways, and to decode it takes long.
  if (raw.length > LONGEST_DECODED) return toLatin1(raw);
  const text = raw.toString();
  // Whoever cancels may name anything. Only a text can be the id of a request in another spelling.
  return raw[0] === 0x22 && text.includes("\\") ? JSON.stringify(JSON.parse(text)) : text;
}

/**
 * The number of our own id in an answer; NaN or 0 if it cannot be ours. Some servers return the id as a
 * string.
 */
export function ownId(raw: Raw): number {
  const quoted = raw[0] === 0x22 ? 1 : 0;
  let value = 0;
  for (let i = quoted; i < raw.length - quoted; i++) {
    const digit = (raw[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return quoted ? Number.NaN : Number(raw.toString());
    value = value * 10 + digit;
  }
  return value;
}

/** Writes our own id. */
export function writeId(id: number): Raw {
  return fromLatin1(`${id}`);
}
