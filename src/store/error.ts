/** Errors of the store. One row per code. Callers act on the code, never on the text. */

const CODES = {
  conflict: "Someone else changed it first.",
  taken: "The name or key is already in use.",
  invalid: "This cannot be stored.",
  unavailable: "The store cannot be reached or written.",
  in_use: "Another process uses this embedded store.",
  newer: "The store was written by a newer version of the program.",
  foreign: "This is not a store, or its tables were changed.",
  no_driver: "This runtime has no SQLite.",
  key_missing: "The secret key is missing.",
  key_weak: "The secret key is not usable.",
  key_wrong: "The secret key is not the one this was encrypted with.",
} as const;

export type StoreErrorCode = keyof typeof CODES;

const brand = Symbol.for("metamcp.StoreError");

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly [brand] = true;
  readonly code: StoreErrorCode;
  /** The write may have succeeded, because only its answer was lost. */
  readonly unsure: boolean;

  constructor(code: StoreErrorCode, message: string = CODES[code], cause?: unknown, unsure = false) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.unsure = unsure;
  }

  /** Holds across duplicate copies of this module, where `instanceof` does not. */
  static is(value: unknown, code?: StoreErrorCode): value is StoreError {
    const ours = typeof value === "object" && value !== null && brand in value;
    return ours && (code === undefined || (value as StoreError).code === code);
  }
}
