/** Results and errors of a child of the stateless era as the rest of the house knows them. */
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

/** Without what only clients of the same era understand. */
export function plain(result: Raw, method: string): Raw {
  const bare = withMember(result, "resultType", undefined);
  if (!CACHEABLE.has(method)) return bare;
  return withMember(withMember(bare, "ttlMs", undefined), "cacheScope", undefined);
}

/** Errors about the envelope are about our own hop: nobody else could mend them by what they say. */
export function ownHop(error: RpcError): RpcError {
  switch (error.code) {
    case MISSING_CAPABILITY:
      // Which capability it is may concern the client; whether it does, is known at its edge.
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

/** The child can do this as a task only. */
export function needsTasks(error: unknown): boolean {
  const { requiredCapabilities } = ((error instanceof RpcError && error.data) || {}) as {
    requiredCapabilities?: { extensions?: Record<string, unknown> };
  };
  return requiredCapabilities?.extensions?.[TASKS] !== undefined;
}
