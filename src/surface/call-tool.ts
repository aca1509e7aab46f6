/**
 * The path of every tool call on all surfaces: finds the server and the tool, checks the arguments, sends the
 * call to the child.
 */

import { checkArguments, prepareCheck } from "../catalog/check-arguments.ts";
import { repeatOf, type Tool } from "../catalog/tool.ts";
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import type { Origin } from "../kernel/call.ts";
import { LARGE_BYTES, ownTurn } from "../kernel/own-turn.ts";
import type { Permissions } from "../kernel/permissions.ts";
import type { Raw } from "../kernel/raw.ts";
import { runPermitted } from "../middleware/permission.ts";
import { afterLogin } from "./account-login.ts";
import { callBuiltinTool } from "./builtin/builtin-tool.ts";
import { type CallParts, callParams } from "./call-params.ts";
import { connect } from "./connect.ts";
import { invalidArguments } from "./invalid-arguments.ts";
import { noSuchTool } from "./no-such-tool.ts";
import { recorded } from "./recorded.ts";
import { requireServer } from "./require-server.ts";
import type { Scope, ScopeCalls, ScopeCatalog } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface ToolCall extends CallParts {
  readonly server: string;
  /** The name of the own tool that finds tools, for hints in errors. */
  readonly finder?: string;
}

/**
 * Returns the child's result as written. Rejects with a MetaMcpError, or an RpcError if the child answered
 * with one. This is the hot path: if the tool is known and the arguments are valid, nothing is awaited.
 */
export function callTool(scope: Scope, toolCall: ToolCall, request: ClientRequest): Promise<Raw> {
  if (!scope.events.hasListeners) return toolResult(scope, toolCall, request);
  const { trail } = request;
  if (trail) trail.target = scope.target(toolCall.server, toolCall.tool, request.origin);
  return recorded(scope, toolCall, request, (inner) => toolResult(scope, toolCall, inner));
}

function toolResult(scope: Scope, toolCall: ToolCall, request: ClientRequest): Promise<Raw> {
  if (toolCall.server === BUILTIN_SERVER) return callBuiltinTool(scope, toolCall, request);
  return runPermitted(request, (permissions) => {
    const attempt = { toolCall, request, permissions };
    if (!scope.login?.(toolCall.server, request.origin)) return childResult(scope, attempt);
    return afterLogin(scope, request, () => childResult(scope, attempt));
  });
}

/** One run of a call; see `runPermitted`. */
interface Attempt {
  readonly toolCall: ToolCall;
  readonly request: ClientRequest;
  readonly permissions: Permissions;
}

function childResult(scope: ScopeCatalog & ScopeCalls, attempt: Attempt): Promise<Raw> {
  const { server, tool: name, args, finder } = attempt.toolCall;
  requireServer(scope, server, attempt.request.origin, finder);
  const view = scope.view(attempt.request.origin);
  const tool = view.isLive(server) ? view.snapshot.tool(server, name) : undefined;
  const valid = tool && args.length < LARGE_BYTES && checkArguments(tool, args)?.length === 0;
  return valid ? send(scope, tool, attempt) : verifyAndSend(scope, attempt);
}

/**
 * Only a current list of the child may refuse a call. The disk cache, a list for other clients, or one from
 * before the last disconnect may be outdated, so the child is connected first. Large arguments are checked in
 * a turn of their own: they were read in this one.
 */
async function verifyAndSend(scope: ScopeCatalog & ScopeCalls, attempt: Attempt): Promise<Raw> {
  const { toolCall, request } = attempt;
  const { server } = toolCall;
  const { origin } = request;
  if (toolCall.args.length >= LARGE_BYTES) await ownTurn();
  if (scope.view(origin).isLive(server)) {
    const checked = await checkedTool(scope, toolCall, origin).then(
      (tool) => ({ tool }),
      (refusal: unknown) => {
        if (scope.connected(server, origin)) throw refusal;
      },
    );
    if (checked) return await send(scope, checked.tool, attempt);
  }
  const lease = await connect(scope, server, request);
  try {
    return await send(scope, await checkedTool(scope, toolCall, origin), attempt);
  } finally {
    lease.release();
  }
}

function send(scope: ScopeCalls, tool: Tool | undefined, attempt: Attempt): Promise<Raw> {
  const { toolCall, request, permissions } = attempt;
  const { origin, signal, uplink, hold, taskRequest, trail, via } = request;
  const task =
    tool?.taskSupport || taskRequest
      ? { support: tool?.taskSupport ?? "forbidden", request: taskRequest }
      : undefined;
  const params = callParams(toolCall);
  return scope.call({
    server: toolCall.server,
    method: "tools/call",
    tool: toolCall.tool,
    params,
    given: trail && !toolCall.written ? { params, args: toolCall.args } : undefined,
    origin,
    signal,
    deadline: Number.POSITIVE_INFINITY,
    repeat: tool ? repeatOf(tool.annotations) : "unknown",
    uplink,
    hold,
    permissions,
    trail,
    via,
    task,
    // Members that are set later are present from the start: a copy that adds members is far slower.
    facts: undefined,
    recorder: undefined,
    aside: undefined,
    atServer: undefined,
    beside: undefined,
  });
}

/**
 * Returns the tool if the arguments are valid; undefined if the tool is unknown but permitted. Throws
 * MetaMcpError otherwise.
 */
async function checkedTool(
  scope: ScopeCatalog,
  toolCall: ToolCall,
  origin: Origin,
): Promise<Tool | undefined> {
  const tool = findTool(scope, toolCall, origin);
  if (!tool || !scope.view(origin).isLive(toolCall.server)) return tool;
  await prepareCheck(tool);
  const problems = checkArguments(tool, toolCall.args) ?? [];
  if (problems.length === 0) return tool;
  throw invalidArguments(tool, problems);
}

/**
 * Returns undefined for a permitted tool of a child that cannot list its tools; that child decides itself.
 */
function findTool(scope: ScopeCatalog, toolCall: ToolCall, origin: Origin): Tool | undefined {
  const { server, tool: name } = toolCall;
  const view = scope.view(origin);
  const tool = view.snapshot.tool(server, name);
  if (tool || (!view.isLive(server) && scope.permits(server, name, origin))) return tool;
  throw noSuchTool(scope, toolCall, origin);
}
