/** Text and JSON: converts text that is JSON to a raw value, and cuts text by its size as JSON. */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { reset, sawLineBreak, scanValue, skipSpace } from "../../rpc/validate.ts";

const SPACE = 0x20;

/**
 * Returns the value on one line, with all digits as written; undefined if the text is not exactly one JSON
 * value.
 */
export function jsonIn(text: string): Raw | undefined {
  const bytes = Buffer.from(text);
  reset();
  const from = skipSpace(bytes, 0);
  const end = scanValue(bytes, from);
  const whole = end >= 0 && skipSpace(bytes, end) === bytes.length;
  const lines = sawLineBreak();
  reset();
  if (!whole) return undefined;
  // On the wire a line break would end the message. In JSON it can only be white space between tokens.
  if (lines) for (let i = from; i < end; i++) if (bytes[i] === 0x0a || bytes[i] === 0x0d) bytes[i] = SPACE;
  return asRaw(bytes.subarray(from, end));
}

/** The beginning of a text, with at most this many bytes in a JSON string. */
export function startOf(text: string, most: number): string {
  let start = text.slice(0, most);
  while (bytesOf(start) > most) start = start.slice(0, Math.floor(start.length * 0.85));
  return start;
}

/** The size of a text in a JSON string, without the quotes around it. */
export function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
