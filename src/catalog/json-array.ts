/** Joins and recognizes JSON arrays without parsing them. */
import { asRaw, type Raw } from "../kernel/raw.ts";

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** Expects no leading white space, as in every slice of a member or an element. */
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
