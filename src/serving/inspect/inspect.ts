/**
 * The inspector: calls a tool directly at its server for an administrator, without endpoint and namespace.
 * Only the layers of the server apply.
 */
import { toolId } from "../../catalog/tool.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Compiled } from "../../gateway/compile.ts";
import { serverFacts } from "../../gateway/endpoint/facts.ts";
import { placedLayers } from "../../gateway/endpoint/placed-layers.ts";
import type { CallResult, InspectRequest } from "../../gateway/inspector-control.ts";
import type { Handler } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, toRaw } from "../../kernel/raw.ts";
import type { CompiledLayers } from "../../middleware/compiled-layers.ts";
import { pipelineOf } from "../../middleware/pipeline.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import type { SessionlessRequests } from "../../session/sessionless-requests.ts";
import { callTool } from "../../surface/call-tool.ts";
import { asResult, executionFailed } from "../../surface/failure.ts";

/** The id of the endpoint in the origin of such calls. */
export const INSPECTOR = "inspector";

export interface InspectParts {
  readonly engine: Pick<Engine, "scope" | "catalog">;
  readonly sessionless: Pick<SessionlessRequests, "run">;
  readonly compiled: () => Compiled;
  readonly compiledLayers: Pick<CompiledLayers, "of">;
  readonly clock: Clock;
}

/** Always resolves with a CallToolResult. An error becomes a result with `isError`. */
export async function inspect(parts: InspectParts, wanted: InspectRequest): Promise<CallResult> {
  const { server, tool, args, principal, signal } = wanted;
  const scope = { ...parts.engine.scope, call: layered(parts), finder: "The list of its tools" };
  const result = await parts.sessionless.run(principal, async (origin) => {
    const request = { method: "tools/call", params: undefined, origin, signal, uplink: origin.uplink };
    try {
      return await callTool(scope, { server, tool, args: toRaw(args) }, request);
    } catch (error) {
      return asResult(scope.log, withServerName(error, parts.compiled(), wanted), "meta");
    }
  });
  return fromRaw(result) as CallResult;
}

/** Replaces the uuid of the server in an error by its name. */
function withServerName(
  error: unknown,
  { servers }: Compiled,
  { server: uuid, tool }: InspectRequest,
): unknown {
  const server = servers.get(uuid)?.object.name ?? uuid;
  const context = { server, tool_id: toolId({ server, name: tool }) };
  if (error instanceof RpcError) return executionFailed(error, context);
  if (!MetaMcpError.is(error)) return error;
  const message = error.message.replaceAll(uuid, server);
  return new MetaMcpError(error.code, message, { ...error.context, ...context });
}

/** Puts the layers of the server around its calls. */
function layered({ engine, compiled, compiledLayers, clock }: InspectParts): Handler {
  return (call) => {
    const { servers } = compiled();
    const owner = servers.get(call.server)?.object;
    const layers = placedLayers(compiledLayers, [owner]);
    if (call.permissions)
      call.permissions.isCurrent = () => compiled().servers.get(call.server)?.object === owner;
    const own = engine.catalog.snapshot.tool(call.server, call.tool ?? "");
    const facts = {
      ...serverFacts(call.server, { servers }),
      name: call.tool ?? "",
      annotations: own?.annotations ?? {},
      definition: own?.definition,
    };
    return pipelineOf(layers, engine.scope.call, clock)({ ...call, facts });
  };
}
