/** Values of the body as they stand in HTTP headers: as they are where that is safe, else in base64 between two marks. */

const MARKED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
const LOOKS_MARKED = /^=\?base64\?.*\?=$/s;
/** Visible ASCII with spaces and tabs inside, never around it. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

export function toHeader(value: string): string {
  if (PLAIN.test(value) && !LOOKS_MARKED.test(value)) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** Undefined for what cannot stand in such a header. */
export function fromHeader(value: string): string | undefined {
  if (!LOOKS_MARKED.test(value)) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined;
  const inside = MARKED.exec(value)?.[1];
  if (inside === undefined) return undefined;
  const bytes = Buffer.from(inside, "base64");
  // Bits that do not count could hide a second spelling of the same value.
  return bytes.toString("base64") === inside ? bytes.toString() : undefined;
}
