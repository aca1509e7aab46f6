/** A request that a tool of ours makes at a server. Its error is that server's, and says what the model can do. */
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { executionFailed } from "../failure.ts";
import { type Forwarded, forward } from "../forward.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { OWN_SERVER } from "./tools.ts";

export async function askServer(
  scope: Scope,
  asked: Forwarded & { readonly tool: string },
  request: ClientRequest,
): Promise<Raw> {
  try {
    return await forward(scope, asked, request);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { server, method, tool } = asked;
    const context = { server, tool_id: `${OWN_SERVER}:${tool}` };
    const [kind] = method.split("/");
    throw error.code === METHOD_NOT_FOUND
      ? new MetaMcpError("execution_failed", `${server} has no ${kind}.`, context)
      : executionFailed(error, context);
  }
}
