/** JSON as it was written. Payloads travel as bytes; whoever must look inside parses there, once. */

declare const written: unique symbol;

/** The bytes of exactly one valid JSON value. Never edited in place. */
export type Raw = Buffer & { readonly [written]: true };

/** A value of ours, written down. */
export function toRaw(value: unknown): Raw {
  return Buffer.from(JSON.stringify(value)) as Raw;
}

/** Reads a payload. Numbers beyond 2^53 lose digits here: forward the bytes, not what this returns. */
export function fromRaw(raw: Raw): unknown {
  return plainText(raw, 0, raw.length) ?? JSON.parse(raw.toString());
}

const LONGEST_NAME = 64;

/** The string between the quotes at both ends, if it is short and written letter for letter: most names are, and a parser costs more. */
export function plainText(b: Buffer, from: number, end: number): string | undefined {
  if (b[from] !== 0x22 || end - from > LONGEST_NAME) return undefined;
  for (let i = from + 1; i < end - 1; i++) {
    const c = b[i] as number;
    if (c === 0x5c || c >= 0x80) return undefined;
  }
  return b.toString("latin1", from + 1, end - 1);
}

/**
 * As a text with one letter for each byte (Latin-1). What is made of short payloads is made of such texts: joining texts
 * is done by the machine from the first call on, joining bytes by code that has to be compiled first.
 */
export function toLatin1(raw: Buffer): string {
  return raw.toString("latin1");
}

export function fromLatin1(letters: string): Raw {
  return Buffer.from(letters, "latin1") as Raw;
}

const PRINTABLE = /^[ -~]*$/;

/** A text of ours as JSON, in letters. */
export function jsonLatin1(text: string): string {
  const json = JSON.stringify(text);
  return PRINTABLE.test(json) ? json : toLatin1(Buffer.from(json));
}

/** Bytes that the caller has already checked. */
export function asRaw(bytes: Buffer): Raw {
  return bytes as Raw;
}

/** A copy for long: a part keeps all of the message it stands in, and a small copy from the pool keeps the pool's page. */
export function kept(raw: Raw): Raw {
  const copy = Buffer.allocUnsafeSlow(raw.length);
  raw.copy(copy);
  return asRaw(copy);
}

export const EMPTY_OBJECT = toRaw({});
