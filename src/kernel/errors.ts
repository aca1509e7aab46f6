/**
 * The errors that MetaMCP itself reports. This table alone defines what a code means and whether a retry is
 * safe.
 */

interface Traits {
  /** For the documentation page. */
  readonly meaning: string;
  /** Whether a retry can help and is safe. "idempotent": only for tools that are declared safe to repeat. */
  readonly retryable: boolean | "idempotent";
  /** Why MetaMCP never uses the code itself. Middleware and connectors of others may. */
  readonly reserved?: string;
}

export const ERRORS = {
  tool_not_found: { meaning: "No tool of that name is available here.", retryable: false },
  server_not_found: { meaning: "No server of that name is configured.", retryable: false },
  server_unavailable: {
    meaning: "The server cannot be reached, died during the call, or is blocked after repeated failures.",
    retryable: true,
  },
  pool_exhausted: {
    meaning: "All connections were busy until the caller's wait time ran out.",
    retryable: true,
  },
  no_backends: { meaning: "No backend can run this tool.", retryable: false },
  backend_override_invalid: { meaning: "Choosing a backend is not supported.", retryable: false },
  backend_override_no_match: {
    meaning: "The chosen backend does not offer this tool.",
    retryable: false,
    reserved: "The server in a tool id always runs the tool; an override is refused.",
  },
  validation_input: { meaning: "The arguments do not match the input schema.", retryable: false },
  validation_output: { meaning: "The result does not match the output schema.", retryable: false },
  execution_failed: { meaning: "The tool or its server answered with an error.", retryable: false },
  stream_not_supported: { meaning: "Streaming results is not supported.", retryable: false },
  stream_failed: {
    meaning: "A result stream was interrupted.",
    retryable: false,
    reserved: "Results are not streamed; a connection that breaks during a call gives server_unavailable.",
  },
  chain_step_failed: { meaning: "A step of a chain failed; the cause is in details.", retryable: false },
  auth_required: { meaning: "The server requires login.", retryable: false },
  forbidden: { meaning: "A policy or the user did not allow this call.", retryable: false },
  rate_limited: {
    meaning: "Too many calls: a limit of MetaMCP or of the server was reached.",
    retryable: true,
  },
  result_too_large: { meaning: "The answer is larger than the maximum message size.", retryable: false },
  sandbox_limit: {
    meaning: "The code reached a limit of the sandbox and did not catch the error.",
    retryable: false,
  },
  sandbox_terminated: { meaning: "The sandbox ended before the code did.", retryable: false },
  cancelled: { meaning: "The caller cancelled the request.", retryable: false },
  timeout: { meaning: "No answer in time; the call was cancelled at the server.", retryable: "idempotent" },
  internal: { meaning: "A bug in MetaMCP.", retryable: false },
} as const satisfies Record<string, Traits>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorContext {
  readonly server?: string;
  readonly tool_id?: string;
  readonly op?: string;
  readonly step_index?: number;
  readonly retryAfterMs?: number;
  readonly details?: unknown;
  /** Overrides the table if more is known about the case. */
  readonly retryable?: boolean;
  /** The call may have had effects, and the message says so. */
  readonly mayHaveRun?: boolean;
  readonly cause?: unknown;
  /** Why, where the caller must not learn it. Only records have it. */
  readonly hidden?: string;
  /** What the server's process printed last. Only for records, and for people who may read it. */
  readonly output?: string | undefined;
}

/** The end of a message about a call whose outcome is not known. */
export function mayHaveRun(repeat: "safe" | "unknown" | "unsafe"): string {
  return repeat === "safe"
    ? "The call may have run."
    : "The call may have run: check its effects before you repeat it.";
}

const brand = Symbol.for("metamcp.MetaMcpError");

/** An error with a stable code. The message tells a model what to do next. */
export class MetaMcpError extends Error {
  override readonly name = "MetaMcpError";
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.context = context;
  }

  get retryable(): boolean {
    return this.context.retryable ?? ERRORS[this.code].retryable === true;
  }

  /** `structuredContent.error` of a failed tool call. */
  toJSON(): Record<string, unknown> {
    const { server, tool_id, op, step_index, retryAfterMs, details } = this.context;
    return {
      code: this.code,
      message: this.message,
      tool_id,
      server,
      op,
      step_index,
      retryable: this.retryable,
      retryAfterMs,
      details,
    };
  }

  /** The same error with more context. */
  with(context: ErrorContext): MetaMcpError {
    return new MetaMcpError(this.code, this.message, { ...this.context, ...context });
  }

  /** Works across duplicate copies of this module, unlike `instanceof`. */
  static is(value: unknown): value is MetaMcpError {
    return typeof value === "object" && value !== null && brand in value;
  }
}
