/** The live event of a call, as JSON. */
import { membersOf, type RowText } from "../row-text.ts";

export interface CallFacts {
  readonly id: number | string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly replica?: string | undefined;
}

/** `text` is the JSON text of the row. */
export function callEvent({ id, at, replica }: CallFacts, text: RowText): string {
  const where = replica === undefined ? "" : `"replica":"${replica}",`;
  return `{"type":"call","id":${typeof id === "number" ? id : `"${id}"`},"at":"${isoTime(at)}",${where}${membersOf(text)}}`;
}

let last = { ms: Number.NaN, text: "" };

/** Caches the last time, because many calls end in the same millisecond. */
function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
