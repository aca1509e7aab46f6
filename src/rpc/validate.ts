/**
 * Validates JSON and finds where a value ends. Accepts exactly what JSON.parse accepts, up to 1,000 levels of
 * nesting.
 */
import { endianness } from "node:os";

export const MAX_DEPTH = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

/** By byte: whether it may follow a backslash, except `u`. */
const SIMPLE_ESCAPE = new Uint8Array(256);
for (const c of Buffer.from('"\\/bfnrt')) SIMPLE_ESCAPE[c] = 1;

/** On big-endian machines the first byte of a word is not its lowest, so strings are read byte by byte. */
const LITTLE_ENDIAN = endianness() === "LE";

/** Strings longer than this are read four bytes at a time. */
const SHORT = 24;

/** Escapes often follow each other closely. So many bytes after one are read one by one. */
const NEAR = 8;

/** For each open container: whether its parent is an object. */
const parentIsObject = new Uint8Array(MAX_DEPTH);
/** The buffer of the current scan as 32-bit words. Made for the first long string. */
let words: Int32Array | undefined;
let lineBreak = false;

/** Call it before and after the scan of a buffer. After it, so that the buffer can be freed. */
export function reset(): void {
  words = undefined;
  lineBreak = false;
}

/** Whether a line break was seen between tokens since `reset`. */
export function sawLineBreak(): boolean {
  return lineBreak;
}

/** The position of the first byte from `i` on that is no white space. */
export function skipSpace(b: Buffer, i: number): number {
  return (b[i] as number) > 0x20 ? i : skipSomeSpace(b, i);
}

function skipSomeSpace(b: Buffer, i: number): number {
  let broken = false;
  for (; ; i++) {
    const c = b[i];
    if (c === 0x20) continue;
    if (c === 0x0a || c === 0x0d) broken = true;
    else if (c !== 0x09) break;
  }
  if (broken) lineBreak = true;
  return i;
}

/**
 * Takes the position of a value and returns the position after it. All scan functions return `~position` of
 * an error.
 */
export function scanValue(b: Buffer, i: number): number {
  let depth = 0;
  let inObject = 0;
  for (;;) {
    const first = b[i] as number;
    if (first === QUOTE) i = scanString(b, i);
    else if ((first >= 0x30 && first <= 0x39) || first === 0x2d) i = scanNumber(b, i);
    else if (first === 0x7b || first === 0x5b) {
      if (depth === MAX_DEPTH) return ~i;
      parentIsObject[depth++] = inObject;
      inObject = first === 0x7b ? 1 : 0;
      i = skipSpace(b, i + 1);
      if (b[i] !== first + 2) {
        if (inObject === 1) i = scanKey(b, i);
        if (i < 0) return i;
        continue;
      }
    } else i = scanWord(b, i);
    if (i < 0) return i;

    for (;;) {
      if (depth === 0) return i;
      i = skipSpace(b, i);
      const next = b[i++];
      if (next === 0x2c) break;
      if (next !== (inObject === 1 ? 0x7d : 0x5d)) return ~(i - 1);
      inObject = parentIsObject[--depth] as number;
    }
    i = skipSpace(b, i);
    if (inObject === 1) i = scanKey(b, i);
    if (i < 0) return i;
  }
}

/** Takes the position of the opening quote of a key and returns the position of its value. */
export function scanKey(b: Buffer, i: number): number {
  if (b[i] !== QUOTE) return ~i;
  i = scanString(b, i);
  if (i < 0) return i;
  i = skipSpace(b, i);
  return b[i] === 0x3a ? skipSpace(b, i + 1) : ~i;
}

/** Takes the position of the opening quote and returns the position after the closing one. */
function scanString(b: Buffer, i: number): number {
  const until = i + SHORT;
  for (i++; i < until; i++) {
    const c = b[i] as number;
    if (c === QUOTE) return i + 1;
    if (c === BACKSLASH) {
      if (SIMPLE_ESCAPE[b[i + 1] as number] !== 1) break;
      i++;
    } else if (!(c >= 0x20)) break;
  }
  return scanLongString(b, i);
}

/** The same from any position inside a string, four bytes at a time and from escape to escape. */
function scanLongString(b: Buffer, i: number): number {
  words ??= new Int32Array(b.buffer, 0, b.buffer.byteLength >> 2);
  const w = words;
  const offset = b.byteOffset;
  const end = LITTLE_ENDIAN ? (offset + b.length) >> 2 : 0;
  for (let at = offset + i; ; at = offset + i) {
    let k = at >> 2;
    if (k >= end) return scanLastBytes(b, i);
    // The bytes of the word before `at` must not match.
    let hit = special((w[k] as number) | ((1 << ((at & 3) << 3)) - 1));
    if (hit === 0) {
      k = skipPlain(w, k + 1, end);
      while (k < end && hit === 0) hit = special(w[k++] as number);
      if (hit === 0) return scanLastBytes(b, (end << 2) - offset);
      k--;
    }
    i = (k << 2) - offset + ((31 - Math.clz32(hit & -hit)) >> 3);
    if (b[i] !== BACKSLASH) return b[i] === QUOTE ? i + 1 : ~i;
    i = skipEscapes(b, i);
    if (i < 0) return i;
  }
}

/** Takes the position of a backslash. Reads on until no other escape is near. */
function skipEscapes(b: Buffer, i: number): number {
  for (let until = i + NEAR; i < until && i < b.length; ) {
    const c = b[i] as number;
    if (c === BACKSLASH) {
      if (SIMPLE_ESCAPE[b[i + 1] as number] === 1) i += 2;
      else i = scanUnicodeEscape(b, i);
      if (i < 0) return i;
      until = i + NEAR;
    } else if (c === QUOTE || c < 0x20) return i;
    else i++;
  }
  return i;
}

/** The same, byte by byte. */
function scanLastBytes(b: Buffer, i: number): number {
  while ((b[i] as number) >= 0x20 && b[i] !== QUOTE) {
    if (b[i] !== BACKSLASH) i++;
    else if (SIMPLE_ESCAPE[b[i + 1] as number] === 1) i += 2;
    else i = scanUnicodeEscape(b, i);
    if (i < 0) return i;
  }
  return b[i] === QUOTE ? i + 1 : ~i;
}

/** Skips groups of four words without special bytes. */
function skipPlain(w: Int32Array, k: number, end: number): number {
  for (; k + 3 < end; k += 4) {
    const a = w[k] as number;
    const b = w[k + 1] as number;
    const c = w[k + 2] as number;
    const d = w[k + 3] as number;
    const doubt = (suspect(a) | suspect(b) | suspect(c) | suspect(d)) & 0x80808080;
    if (doubt !== 0 && (special(a) | special(b) | special(c) | special(d)) !== 0) return k;
  }
  return k;
}

/**
 * Returns a number other than 0 if a byte of the word is a quote, backslash or control character. Its lowest
 * set bit is in the first such byte.
 */
function special(word: number): number {
  // Flipping bit 1 moves the quote below the limit of control characters, so one comparison finds both. See
  // "hasless" in Bit Twiddling Hacks.
  const low = word ^ 0x02020202;
  const slash = word ^ 0x5c5c5c5c;
  return (((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
}

/**
 * A cheaper form of `special` for ASCII. Other characters may give a false positive. Only the highest bit of
 * each byte counts.
 */
function suspect(word: number): number {
  return ((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101);
}

/** Takes the position of a backslash and returns the position after the escape. */
function scanUnicodeEscape(b: Buffer, i: number): number {
  if (b[i + 1] !== 0x75) return ~i;
  for (let k = i + 2; k < i + 6; k++) if (!isHex(b[k] as number)) return ~k;
  return i + 6;
}

function isHex(c: number): boolean {
  return isDigit(c) || ((c | 0x20) >= 0x61 && (c | 0x20) <= 0x66);
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/** true, false or null. */
function scanWord(b: Buffer, i: number): number {
  const word = b[i] === 0x74 ? TRUE : b[i] === 0x66 ? FALSE : NULL;
  for (let k = 0; k < word.length; k++) if (b[i + k] !== word[k]) return ~(i + k);
  return i + word.length;
}

function scanNumber(b: Buffer, i: number): number {
  let c = b[i] as number;
  if (c === 0x2d) c = b[++i] as number;
  if (c === 0x30) c = b[++i] as number;
  else {
    if (!isDigit(c)) return ~i;
    do c = b[++i] as number;
    while (isDigit(c));
  }
  if (c === 0x2e) {
    i = scanDigits(b, i + 1);
    if (i < 0) return i;
    c = b[i] as number;
  }
  if ((c | 0x20) !== 0x65) return i;
  c = b[++i] as number;
  return scanDigits(b, c === 0x2b || c === 0x2d ? i + 1 : i);
}

/** One digit or more. */
function scanDigits(b: Buffer, i: number): number {
  const start = i;
  while (isDigit(b[i] as number)) i++;
  return i === start ? ~i : i;
}
