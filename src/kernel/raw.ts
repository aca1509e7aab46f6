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
  return JSON.parse(raw.toString());
}

/** Bytes that the caller has already checked. */
export function asRaw(bytes: Buffer): Raw {
  return bytes as Raw;
}

export const EMPTY_OBJECT = toRaw({});
