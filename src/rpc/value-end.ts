/**
 * Finds where a value in valid JSON ends. Many parts of the program find their way through the same large
 * message, and each walk through 4 MB takes milliseconds, so the end of a large value is kept: the bytes of a
 * message never change.
 */
import { LARGE_BYTES } from "../kernel/own-turn.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** So many bytes of a string are read one by one. */
const NEAR = 32;

/** The outer levels of a container. Of deeper ones the ends are not kept. */
const LEVELS = 8;
/** Where the container of each level begins that is being read. */
const begins = new Int32Array(LEVELS);

interface KnownEnd {
  /** Weak, so that a message is not kept here. */
  readonly bytes: WeakRef<ArrayBufferLike>;
  /** Positions in these bytes. */
  readonly from: number;
  readonly end: number;
}

/** By position. Large values of a message that contain each other mostly have different places. */
const known: (KnownEnd | undefined)[] = Array<undefined>(64).fill(undefined);

export function endOfValue(b: Buffer, i: number): number {
  const first = b[i];
  if (first === QUOTE) return endOfString(b, i);
  if (first !== 0x7b && first !== 0x5b) return endOfWord(b, i);
  const end = knownEnd(b, i);
  return end < 0 ? endOfContainer(b, i) : end;
}

/** Also keeps the ends of large values inside, so that nobody has to walk through these again. */
function endOfContainer(b: Buffer, i: number): number {
  let depth = 1;
  begins[0] = i;
  for (i++; depth > 0 && i < b.length; ) {
    const c = b[i];
    if (c === QUOTE) {
      i = endOfString(b, i);
      continue;
    }
    // [ and { differ only in bit 5, and so do ] and }.
    const bracket = (c as number) | 0x20;
    if (bracket === 0x7b) {
      if (depth < LEVELS) begins[depth] = i;
      depth++;
    } else if (bracket === 0x7d) {
      depth--;
      if (depth < LEVELS) kept(b, begins[depth] as number, i + 1);
    }
    i++;
  }
  return i;
}

function endOfWord(b: Buffer, i: number): number {
  while (i < b.length) {
    const c = b[i] as number;
    if (c <= 0x20 || c === 0x2c || c === 0x5d || c === 0x7d) break;
    i++;
  }
  return i;
}

/**
 * Takes the position of the opening quote and returns the position after the closing one. Reads some bytes
 * one by one, then jumps to the next quote. After each escaped quote it reads more bytes before the next
 * jump.
 */
export function endOfString(b: Buffer, i: number): number {
  const start = i;
  let span = NEAR;
  for (i++; ; span *= 2) {
    for (const until = i + span; i < until; i++) {
      const c = b[i];
      if (c === QUOTE) return kept(b, start, i + 1);
      if (c === BACKSLASH) i++;
    }
    const end = span === NEAR ? knownEnd(b, start) : -1;
    if (end >= 0) return end;
    const quote = b.indexOf(QUOTE, i);
    if (quote < 0) return b.length;
    let from = quote;
    while (b[from - 1] === BACKSLASH) from--;
    i = quote + 1;
    if (((quote - from) & 1) === 0) return kept(b, start, i);
  }
}

/** -1 if the value at `i` is not known to be large. */
function knownEnd(b: Buffer, i: number): number {
  if (b.length - i < LARGE_BYTES) return -1;
  const from = b.byteOffset + i;
  const one = known[from % known.length];
  if (one?.from !== from || one.bytes.deref() !== b.buffer) return -1;
  const end = one.end - b.byteOffset;
  return end <= b.length ? end : -1;
}

/** Keeps the end of the value at `i` if it is large. Returns the end. */
function kept(b: Buffer, i: number, end: number): number {
  if (end - i < LARGE_BYTES) return end;
  const from = b.byteOffset + i;
  known[from % known.length] = { bytes: new WeakRef(b.buffer), from, end: b.byteOffset + end };
  return end;
}
