/**
 * Sends a request of an own tool to a server. Converts a JSON-RPC error of the server to an error that names
 * the server.
 */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { executionFailed } from "../failure.ts";
import { type Forwarded, type Forwarding, forward } from "../forward.ts";
import type { ClientRequest } from "../surface.ts";

export async function askServer(
  scope: Forwarding,
  forwarded: Forwarded & { readonly tool: string },
  request: ClientRequest,
): Promise<Raw> {
  try {
    return await forward(scope, forwarded, request);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { server, method, tool } = forwarded;
    const context = { server, tool_id: `${BUILTIN_SERVER}:${tool}` };
    const [kind] = method.split("/");
    throw error.code === METHOD_NOT_FOUND
      ? new MetaMcpError("execution_failed", `${server} has no ${kind}.`, context)
      : executionFailed(error, context);
  }
}
