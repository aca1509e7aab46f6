/**
 * Marks integers that a JavaScript number cannot hold, so that the guest can read them without losing digits.
 */

const LONG = /\d{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const MARK = "\\u0000metamcp:integer:";

/** Cheap; true in case of doubt. */
export function mayHaveIntegers(json: string): boolean {
  return LONG.test(json);
}

/**
 * Returns the JSON with each such integer as a marked string, or an empty text if there is none. Expects
 * valid JSON.
 */
export function markIntegers(json: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; ) {
    const c = json.charCodeAt(at);
    if (c === 0x22) at = endOfString(json, at);
    else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      NUMBER.lastIndex = at;
      const [written = "-"] = NUMBER.exec(json) ?? [];
      if (isLongInteger(written)) {
        parts.push(json.slice(copied, at), `"${MARK}${written}"`);
        copied = at + written.length;
      }
      at += written.length;
    } else at += 1;
  }
  return parts.length === 0 ? "" : parts.join("") + json.slice(copied);
}

function isLongInteger(written: string): boolean {
  return written.length >= 16 && /^-?\d+$/.test(written) && !Number.isSafeInteger(Number(written));
}

/** The position after the closing quote. */
function endOfString(json: string, quote: number): number {
  for (let at = json.indexOf('"', quote + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}
