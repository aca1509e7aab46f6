/** Maps errors of a call to HTTP problems. The only place that maps our error codes to a status. */
import { Problem } from "../admin/problem.ts";
import { type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import { RpcError } from "../rpc/rpc-error.ts";

const STATUS = {
  validation_input: 400,
  backend_override_invalid: 400,
  backend_override_no_match: 400,
  // Not 401, because the caller is authenticated here. The server requires the login.
  auth_required: 403,
  forbidden: 403,
  tool_not_found: 404,
  server_not_found: 404,
  no_backends: 404,
  rate_limited: 429,
  execution_failed: 502,
  validation_output: 502,
  result_too_large: 502,
  stream_failed: 502,
  server_unavailable: 503,
  pool_exhausted: 503,
  cancelled: 503,
  timeout: 504,
  stream_not_supported: 500,
  chain_step_failed: 500,
  sandbox_limit: 500,
  sandbox_terminated: 500,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

/** Used if the wait is unknown. */
const RETRY_SECONDS = 1;

/** Returns undefined for an unexpected error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof RpcError)
    return new Problem(502, error.message, {
      more: { code: "execution_failed", error: { code: error.code, data: error.data } },
    });
  return MetaMcpError.is(error) ? problemOfCode(error) : undefined;
}

function problemOfCode(error: MetaMcpError): Problem {
  const status = STATUS[error.code];
  const { details, retryAfterMs } = error.context;
  const wait = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const retryAfter = wait ?? (status === 429 ? RETRY_SECONDS : undefined);
  return new Problem(status, error.message, {
    more: {
      code: error.code,
      retryable: error.retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(details === undefined ? {} : { details }),
    },
    ...(retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }),
  });
}
