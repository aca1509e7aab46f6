/** Ids and progress tokens, which are written alike. Theirs are compared and echoed as written; ours are numbers. */
import { fromLetters, type Raw } from "../kernel/raw.ts";

export type IdKey = string | number;

/** Longer ones may be beyond what a number holds exactly. */
const DIGITS = 15;

/** A key for an id of theirs: the same for the same id, however it is written. */
export function idKey(raw: Raw): IdKey {
  const number = raw.length <= DIGITS && raw[0] !== 0x22 ? ownId(raw) : 0;
  // Others (0, -1, 1.5) are rare and keep their text.
  if (number > 0 && Number.isInteger(number)) return number;
  const text = raw.toString();
  return text.includes("\\") ? JSON.stringify(JSON.parse(text)) : text;
}

/** The number an id of ours comes back as; NaN or 0 if it is none. Some servers send it back as a string. */
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

/** An id of ours. */
export function writeId(id: number): Raw {
  return fromLetters(`${id}`);
}
