/** A JSON-RPC error: what a peer answered, or what we answer to a malformed request. Numeric codes exist only here. */
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
  /** The whole error object as it was written. */
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

/** Undefined where it would take long to read: whoever needs that takes the bytes. */
function memberOf(raw: Raw, name: string): unknown {
  const written = member(raw, name);
  return written && !hasManyValues(written) ? fromRaw(written) : undefined;
}

/** What the other side may read of a failure. Texts of unknown errors can hold paths and secrets. */
export function errorOf(reason: unknown): Raw {
  if (reason instanceof RpcError) return reason.raw;
  const known = MetaMcpError.is(reason);
  return toRaw({
    code: INTERNAL_ERROR,
    message: known ? reason.message : "internal error",
    data: known ? reason : undefined,
  });
}
