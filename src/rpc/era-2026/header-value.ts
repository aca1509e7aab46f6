/** Encodes values for HTTP headers: unchanged if that is safe, otherwise in base64 between two marks. */

const MARKED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
const LOOKS_MARKED = /^=\?base64\?.*\?=$/s;
/** Visible ASCII with spaces and tabs inside, but not at the ends. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

export function toHeader(value: string): string {
  if (PLAIN.test(value) && !LOOKS_MARKED.test(value)) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** Returns undefined if the header is invalid. */
export function fromHeader(value: string): string | undefined {
  if (!LOOKS_MARKED.test(value)) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined;
  const inside = MARKED.exec(value)?.[1];
  if (inside === undefined) return undefined;
  const bytes = Buffer.from(inside, "base64");
  // Unused bits must be zero: otherwise one value would have several encodings.
  return bytes.toString("base64") === inside ? bytes.toString() : undefined;
}
