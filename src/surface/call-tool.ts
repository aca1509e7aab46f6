/**
 * The path of every tool call on all surfaces: finds the server and the tool, checks the arguments, sends the call to
 * the child.
 */
import { checkArguments, prepareCheck } from "../catalog/check-arguments.ts";
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import { repeatOf, type Tool, toolId } from "../catalog/tool.ts";
import type { Lease, Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Permissions } from "../kernel/permissions.ts";
import type { Raw } from "../kernel/raw.ts";
import { aborted } from "../kernel/signal.ts";
import { visible } from "../kernel/visible.ts";
import { runPermitted } from "../middleware/permission.ts";
import { type CallParts, callParams } from "./call-params.ts";
import { invalidArguments } from "./invalid-arguments.ts";
import { callOwnTool } from "./own/own-tool.ts";
import { OWN_SERVER } from "./own/tools.ts";
import { afterLogin } from "./own-login.ts";
import { recorded } from "./recorded.ts";
import { requireServer, suggest, unknownServer } from "./require-server.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface ToolCall extends CallParts {
  readonly server: string;
  /** The name of the own tool that finds tools, for hints in errors. */
  readonly finder?: string;
}

/**
 * Returns the child's result as written. Rejects with a MetaMcpError, or an RpcError if the child answered with one.
 * This is the hot path: if the tool is known and the arguments are valid, nothing is awaited.
 */
export function callTool(scope: Scope, toolCall: ToolCall, request: ClientRequest): Promise<Raw> {
  if (!scope.events.hasListeners) return toolResult(scope, toolCall, request);
  const { trail } = request;
  if (trail) trail.target = scope.target(toolCall.server, toolCall.tool, request.origin);
  return recorded(scope, toolCall, request, (inner) => toolResult(scope, toolCall, inner));
}

function toolResult(scope: Scope, toolCall: ToolCall, request: ClientRequest): Promise<Raw> {
  if (toolCall.server === OWN_SERVER) return callOwnTool(scope, toolCall, request);
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

function childResult(scope: Scope, attempt: Attempt): Promise<Raw> {
  const { server, tool: name, args, finder } = attempt.toolCall;
  requireServer(scope, server, attempt.request.origin, finder);
  const view = scope.view(attempt.request.origin);
  const tool = view.isLive(server) ? view.snapshot.tool(server, name) : undefined;
  const valid = tool && checkArguments(tool, args)?.length === 0;
  return valid ? send(scope, tool, attempt) : verifyAndSend(scope, attempt);
}

/**
 * Only a current list of the child may refuse a call. The disk cache, a list for other clients, or one from before the
 * last disconnect may be outdated, so the child is connected first.
 */
async function verifyAndSend(scope: Scope, attempt: Attempt): Promise<Raw> {
  const { toolCall, request } = attempt;
  const { server } = toolCall;
  const { origin } = request;
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

/** Rejects when the request is cancelled. A connection that opens after that is released. */
export async function connect(
  scope: Scope,
  server: string,
  { origin, signal }: Pick<ClientRequest, "origin" | "signal">,
): Promise<Lease> {
  const connecting = scope.connect(server, origin);
  try {
    return await Promise.race([connecting, aborted(signal)]);
  } catch (error) {
    void connecting.then(
      (lease) => lease.release(),
      () => {},
    );
    throw error;
  }
}

function send(scope: Scope, tool: Tool | undefined, attempt: Attempt): Promise<Raw> {
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
 * Returns the tool if the arguments are valid; undefined if the tool is unknown but permitted. Throws MetaMcpError
 * otherwise.
 */
async function checkedTool(scope: Scope, toolCall: ToolCall, origin: Origin): Promise<Tool | undefined> {
  const tool = findTool(scope, toolCall, origin);
  if (!tool || !scope.view(origin).isLive(toolCall.server)) return tool;
  await prepareCheck(tool);
  const problems = checkArguments(tool, toolCall.args) ?? [];
  if (problems.length === 0) return tool;
  throw invalidArguments(tool, problems);
}

/** Returns undefined for a permitted tool of a child that cannot list its tools; that child decides itself. */
function findTool(scope: Scope, toolCall: ToolCall, origin: Origin): Tool | undefined {
  const { server, tool: name } = toolCall;
  const view = scope.view(origin);
  const tool = view.snapshot.tool(server, name);
  if (tool || (!view.isLive(server) && scope.permits(server, name, origin))) return tool;
  throw noSuchTool(scope, toolCall, origin);
}

export function noSuchTool(
  scope: Scope,
  { server, tool: name, finder }: Pick<ToolCall, "server" | "tool" | "finder">,
  origin: Origin,
): MetaMcpError {
  if (!scope.has(server, origin)) return unknownServer(scope, server, origin, finder);
  const { pins } = scope;
  const change = pins.enforced && pins.unapproved(server, origin).find(({ tool }) => tool === name);
  if (change) return quarantined(server, change);
  const names =
    scope
      .view(origin)
      .snapshot.listings.get(server)
      ?.tools.map((other) => other.name) ?? [];
  return new MetaMcpError(
    "tool_not_found",
    `Server "${visible(server)}" has no tool "${visible(name)}". ${suggest(name, names, "tool", scope.finder ?? finder)}`,
    {
      server,
      tool_id: toolId({ server, name }),
      details: { nearest: nearest(name, names) },
    },
  );
}

/** The tool exists, but differs from what the user approved. */
export function quarantined(server: string, change: ToolChange): MetaMcpError {
  const { tool, kind, parts } = change;
  return new MetaMcpError(
    "forbidden",
    `Tool "${visible(tool)}" of "${visible(server)}" ${whatHappened(change)} and is blocked until the user approves it. Ask the user to review it: metamcp approve ${server}`,
    { server, tool_id: toolId({ server, name: tool }), details: { kind, changed: parts } },
  );
}
