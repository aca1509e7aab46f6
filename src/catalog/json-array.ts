/** Arrays of JSON as written. */
import { asRaw, type Raw } from "../kernel/raw.ts";

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** Of a value without white space before it, as every member and element is. */
export function isArray(raw: Raw): boolean {
  return raw[0] === OPEN[0];
}

export function joinArray(parts: readonly Raw[]): Raw {
  const pieces: Buffer[] = [];
  for (const part of parts) pieces.push(pieces.length === 0 ? OPEN : COMMA, part);
  if (pieces.length === 0) pieces.push(OPEN);
  pieces.push(CLOSE);
  return asRaw(Buffer.concat(pieces));
}
