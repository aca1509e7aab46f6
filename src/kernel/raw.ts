/**
 * JSON as bytes. Payloads are passed on as they were written; code that needs the content parses it there,
 * once.
 */

declare const written: unique symbol;

/** The bytes of one valid JSON value. Never change them in place. */
export type Raw = Buffer & { readonly [written]: true };

export function toRaw(value: unknown): Raw {
  return Buffer.from(JSON.stringify(value)) as Raw;
}

/** Parses a payload. Numbers beyond 2^53 lose digits, so pass on the bytes and not this value. */
export function fromRaw(raw: Raw): unknown {
  return plainText(raw, 0, raw.length) ?? JSON.parse(raw.toString());
}

/**
 * A text, a number, a truth value or null. Undefined for objects and arrays, which are not parsed: a caller
 * may write millions of values where a name belongs.
 */
export function scalarOf(raw: Raw | undefined): unknown {
  return raw === undefined || raw[0] === 0x7b || raw[0] === 0x5b ? undefined : fromRaw(raw);
}

const MAX_PLAIN_LENGTH = 64;

/**
 * The string between the quotes at both ends, if it is short ASCII without escapes. Most names are, and
 * JSON.parse is slower.
 */
export function plainText(b: Buffer, from: number, end: number): string | undefined {
  if (b[from] !== 0x22 || end - from > MAX_PLAIN_LENGTH) return undefined;
  for (let i = from + 1; i < end - 1; i++) {
    const c = b[i] as number;
    if (c === 0x5c || c >= 0x80) return undefined;
  }
  return b.toString("latin1", from + 1, end - 1);
}

/**
 * The bytes as a Latin-1 string, with one character per byte. Short payloads are joined as strings: V8 does
 * that natively from the first call on, but code that joins bytes has to be compiled first.
 */
export function toLatin1(raw: Buffer): string {
  return raw.toString("latin1");
}

export function fromLatin1(text: string): Raw {
  return Buffer.from(text, "latin1") as Raw;
}

const PRINTABLE = /^[ -~]*$/;

/** A string as JSON, whose UTF-8 bytes are given as a Latin-1 string. */
export function jsonLatin1(text: string): string {
  const json = JSON.stringify(text);
  return PRINTABLE.test(json) ? json : toLatin1(Buffer.from(json));
}

/** Marks bytes that the caller has already checked. */
export function asRaw(bytes: Buffer): Raw {
  return bytes as Raw;
}

/**
 * A copy to store. A view would keep the whole message in memory, and a small pooled buffer the whole pool.
 */
export function kept(raw: Raw): Raw {
  const copy = Buffer.allocUnsafeSlow(raw.length);
  raw.copy(copy);
  return asRaw(copy);
}

export const EMPTY_OBJECT = toRaw({});
