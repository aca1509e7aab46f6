/**
 * A JSON-RPC error: the answer of the other side, or our answer to an invalid request. Numeric codes are
 * defined only here.
 */
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { hasManyValues } from "./many-values.ts";
import { member } from "./slice.ts";

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export class RpcError extends Error {
  override readonly name = "RpcError";
  /** The whole error object as written. */
  readonly raw: Raw;

  constructor(raw: Raw) {
    super(memberOf(raw, "message")?.toString() ?? "unknown error");
    this.raw = raw;
  }

  static of(code: number, message: string, data?: unknown): RpcError {
    return new RpcError(toRaw({ code, message, data }));
  }

  get code(): number {
    return Number(memberOf(this.raw, "code"));
  }

  get data(): unknown {
    return memberOf(this.raw, "data");
  }
}

/** Returns undefined if parsing the member would take long. The bytes are still in `raw`. */
function memberOf(raw: Raw, name: string): unknown {
  const written = member(raw, name);
  return written && !hasManyValues(written) ? fromRaw(written) : undefined;
}

/**
 * The error object for the other side. Texts of unknown errors may contain paths and secrets, so they are not
 * included.
 */
export function errorOf(reason: unknown): Raw {
  if (reason instanceof RpcError) return reason.raw;
  const known = MetaMcpError.is(reason);
  return toRaw({
    code: INTERNAL_ERROR,
    message: known ? reason.message : "internal error",
    data: known ? reason : undefined,
  });
}
