/** The live event of a call, as JSON. */
import { membersOf, type RowText } from "../row-text.ts";

/** `text` is the JSON text of the row. */
export function callEvent(id: number, at: number, text: RowText): string {
  return `{"type":"call","id":${id},"at":"${isoTime(at)}",${membersOf(text)}}`;
}

let last = { ms: Number.NaN, text: "" };

/** Caches the last time, because many calls end in the same millisecond. */
function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
