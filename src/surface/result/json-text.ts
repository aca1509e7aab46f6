/** Text that is JSON as a value to pass on: every digit as it was written, and on one line. */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { reset, sawLineBreak, scanValue, skipSpace } from "../../rpc/validate.ts";

const SPACE = 0x20;

/** Undefined if it is not one whole JSON value. */
export function jsonIn(text: string): Raw | undefined {
  const bytes = Buffer.from(text);
  reset();
  const from = skipSpace(bytes, 0);
  const end = scanValue(bytes, from);
  const whole = end >= 0 && skipSpace(bytes, end) === bytes.length;
  const lines = sawLineBreak();
  reset();
  if (!whole) return undefined;
  // In JSON a line break can only stand between two tokens; on the wire it would end the message.
  if (lines) for (let i = from; i < end; i++) if (bytes[i] === 0x0a || bytes[i] === 0x0d) bytes[i] = SPACE;
  return asRaw(bytes.subarray(from, end));
}
