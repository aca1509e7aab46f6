/** Errors about keys and accounts. Callers act on the code. */

export type AccessErrorCode =
  | "not_found"
  | "taken"
  | "last_admin"
  /** The account has as many as it may have. */
  | "too_many"
  /** Used, expired or unknown. The caller is not told which. */
  | "code_unknown"
  | "passwords_off"
  | "throttled"
  | "busy";

export class AccessError extends Error {
  override readonly name = "AccessError";
  readonly code: AccessErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: AccessErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
