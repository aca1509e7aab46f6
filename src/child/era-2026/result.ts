/** Converts results and errors of a child of the stateless era to the form that the rest of MetaMCP uses. */
import type { Raw } from "../../kernel/raw.ts";
import {
  CACHEABLE,
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
  TASKS,
  UNSUPPORTED_VERSION,
} from "../../rpc/era-2026/names.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { withMember } from "../../rpc/slice.ts";

/** The result without the members that only clients of the stateless era understand. */
export function plain(result: Raw, method: string): Raw {
  const bare = withMember(result, "resultType", undefined);
  if (!CACHEABLE.has(method)) return bare;
  return withMember(withMember(bare, "ttlMs", undefined), "cacheScope", undefined);
}

/**
 * Errors about the envelope concern the hop between MetaMCP and the child. The client cannot fix them, so
 * they become internal errors.
 */
export function withoutHopErrors(error: RpcError): RpcError {
  switch (error.code) {
    case MISSING_CAPABILITY:
      // The data names the capability. The session of the client decides whether the client needs to know it.
      return RpcError.of(
        INTERNAL_ERROR,
        `The server needs a capability the client did not declare: ${error.message}`,
        error.data,
      );
    case HEADER_MISMATCH:
    case UNSUPPORTED_VERSION:
      return RpcError.of(INTERNAL_ERROR, `The server did not accept the request: ${error.message}`);
    default:
      return error;
  }
}

/** Whether the child refused the call because it runs the tool only as a task. */
export function needsTasks(error: unknown): boolean {
  const { requiredCapabilities } = ((error instanceof RpcError && error.data) || {}) as {
    requiredCapabilities?: { extensions?: Record<string, unknown> };
  };
  return requiredCapabilities?.extensions?.[TASKS] !== undefined;
}
