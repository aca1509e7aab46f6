/** Errors about keys and accounts. One row per code, with its HTTP status. Callers act on the code. */

const CODES = {
  not_found: 404,
  taken: 409,
  last_admin: 409,
  /** The account has as many as it may have. */
  too_many: 409,
  /** Used, expired or unknown. The caller is not told which. */
  code_unknown: 404,
  passwords_off: 403,
  throttled: 429,
  busy: 503,
} as const;

export type AccessErrorCode = keyof typeof CODES;

export class AccessError extends Error {
  override readonly name = "AccessError";
  readonly code: AccessErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: AccessErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  get status(): number {
    return CODES[this.code];
  }
}
