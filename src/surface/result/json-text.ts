/** Converts text that is JSON to a raw value on one line, with all digits as written. */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { reset, sawLineBreak, scanValue, skipSpace } from "../../rpc/validate.ts";

const SPACE = 0x20;

/** Returns undefined if the text is not exactly one JSON value. */
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
