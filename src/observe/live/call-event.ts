/** A call as it is told live, in JSON. */
import { membersOf, type RowText } from "../row-text.ts";

/** `told`: its row, written. */
export function callEvent(id: number, at: number, told: RowText): string {
  return `{"type":"call","id":${id},"at":"${isoTime(at)}",${membersOf(told)}}`;
}

let last = { ms: Number.NaN, text: "" };

/** Calls that end in the same millisecond are common. */
function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
