/** The way of every tool call, whichever surface it came through: known server, known tool, fitting arguments, off to the child. */
import { checkArguments, prepareCheck } from "../catalog/check-arguments.ts";
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import { repeatOf, type Tool, toolId } from "../catalog/tool.ts";
import type { Lease, Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Raw } from "../kernel/raw.ts";
import { aborted } from "../kernel/signal.ts";
import { runPermitted } from "../middleware/permission.ts";
import { type CallParts, callParams } from "./call-params.ts";
import { misfit } from "./misfit.ts";
import { callOwnTool } from "./own/own-tool.ts";
import { OWN_SERVER } from "./own/tools.ts";
import { afterLogin } from "./own-login.ts";
import { recorded } from "./recorded.ts";
import { requireServer, suggest } from "./require-server.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

export interface ToolCall extends CallParts {
  readonly server: string;
  /** The tool of ours that shows what there is, for hints. */
  readonly finder?: string;
}

/**
 * The child's result as written. Rejects with MetaMcpError, or RpcError where the child answered with one.
 * Where all is known and in order nothing is awaited on the way: this is the hot path.
 */
export function callTool(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  if (!scope.events.heard) return toolResult(scope, wanted, request);
  const { trail } = request;
  if (trail) trail.target = scope.target(wanted.server, wanted.tool, request.origin);
  return recorded(scope, wanted, request, (inner) => toolResult(scope, wanted, inner));
}

function toolResult(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  if (wanted.server === OWN_SERVER) return callOwnTool(scope, wanted, request);
  return runPermitted(request, (permissions) => {
    const permitted = { ...request, permissions };
    if (!scope.login?.(wanted.server, request.origin)) return childResult(scope, wanted, permitted);
    return afterLogin(scope, request, () => childResult(scope, wanted, permitted));
  });
}

function childResult(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  const { server, tool: name, args } = wanted;
  requireServer(scope, server, wanted.finder);
  const view = scope.view(request.origin);
  const tool = view.isLive(server) ? view.snapshot.tool(server, name) : undefined;
  const inOrder = tool && checkArguments(tool, args)?.length === 0;
  return inOrder ? send(scope, tool, wanted, request) : makeSure(scope, wanted, request);
}

/** Only the child's own list refuses a call: not the disk cache, nor what it offers to others, nor what it offered before it was last disconnected. */
async function makeSure(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  const { server } = wanted;
  const { origin } = request;
  if (scope.view(origin).isLive(server)) {
    const fit = await fittingTool(scope, wanted, origin).then(
      (tool) => ({ tool }),
      (refusal: unknown) => {
        if (scope.connected(server, origin)) throw refusal;
      },
    );
    if (fit) return await send(scope, fit.tool, wanted, request);
  }
  const lease = await connect(scope, server, request);
  try {
    return await send(scope, await fittingTool(scope, wanted, origin), wanted, request);
  } finally {
    lease.release();
  }
}

/** Who gave up waits no longer; a connection that comes later is let go. */
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

function send(scope: Scope, tool: Tool | undefined, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  const { origin, signal, uplink, hold, permissions, wish, trail, via } = request;
  const task = tool?.taskSupport || wish ? { support: tool?.taskSupport ?? "forbidden", wish } : undefined;
  const params = callParams(wanted);
  return scope.call({
    server: wanted.server,
    method: "tools/call",
    tool: wanted.tool,
    params,
    given: trail && !wanted.written ? { params, args: wanted.args } : undefined,
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
    // Those that come on the way, too: to copy an object is far slower where the copy has more members.
    facts: undefined,
    walk: undefined,
    aside: undefined,
    atServer: undefined,
    beside: undefined,
  });
}

async function fittingTool(scope: Scope, wanted: ToolCall, origin: Origin): Promise<Tool | undefined> {
  const tool = findTool(scope, wanted, origin);
  if (!tool || !scope.view(origin).isLive(wanted.server)) return tool;
  await prepareCheck(tool);
  const problems = checkArguments(tool, wanted.args) ?? [];
  if (problems.length === 0) return tool;
  throw misfit(tool, problems);
}

/** A child that cannot list its tools decides by itself, within the rules: undefined where the tool is unknown. */
function findTool(scope: Scope, wanted: ToolCall, origin: Origin): Tool | undefined {
  const { server, tool: name } = wanted;
  const view = scope.view(origin);
  const tool = view.snapshot.tool(server, name);
  if (tool || (!view.isLive(server) && scope.permits(server, name, origin))) return tool;
  throw noSuchTool(scope, wanted, origin);
}

export function noSuchTool(
  scope: Scope,
  { server, tool: name, finder }: Pick<ToolCall, "server" | "tool" | "finder">,
  origin: Origin,
): MetaMcpError {
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
    `Server "${server}" has no tool "${name}". ${suggest(name, names, "tool", scope.finder ?? finder)}`,
    {
      server,
      tool_id: toolId({ server, name }),
      details: { nearest: nearest(name, names) },
    },
  );
}

/** It is there, but not as the user approved it. */
export function quarantined(server: string, change: ToolChange): MetaMcpError {
  const { tool, kind, parts } = change;
  return new MetaMcpError(
    "forbidden",
    `Tool "${tool}" of "${server}" ${whatHappened(change)} and is blocked until the user approves it. Ask the user to review it: metamcp approve ${server}`,
    { server, tool_id: toolId({ server, name: tool }), details: { kind, changed: parts } },
  );
}
