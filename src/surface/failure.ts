/** How a failure looks on the wire: a failed tool is a result with `isError`, never a JSON-RPC error. */
import { MetaMcpError } from "../kernel/errors.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import type { RpcError } from "../rpc/rpc-error.ts";

export function failedResult(error: MetaMcpError): Raw {
  return toRaw({
    content: [{ type: "text", text: `${error.code}: ${error.message}` }],
    structuredContent: { error },
    isError: true,
  });
}

/** The child's own JSON-RPC error, for surfaces on which a tool call must be a result. */
export function executionFailed(error: RpcError, context: { server: string; tool_id: string }): MetaMcpError {
  return new MetaMcpError("execution_failed", `${context.server} answered with an error: ${error.message}`, {
    ...context,
    details: { code: error.code, message: error.message, data: error.data },
  });
}
