/** A call as it is told live, in JSON. */

/** `told`: its row, written. */
export function callEvent(id: number, at: number, told: string): string {
  return `{"type":"call","id":${id},"at":"${isoTime(at)}",${told}}`;
}

let last = { ms: Number.NaN, text: "" };

/** Calls that end in the same millisecond are common. */
function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
