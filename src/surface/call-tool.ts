/** The way of every tool call, whichever surface it came through: known server, known tool, fitting arguments, off to the child. */
import { checkArguments, prepareCheck } from "../catalog/check-arguments.ts";
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import { repeatOf, type Tool, toolId } from "../catalog/tool.ts";
import type { Lease } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Raw } from "../kernel/raw.ts";
import { aborted } from "../kernel/signal.ts";
import type { ClientRequest } from "./face.ts";
import { misfit } from "./misfit.ts";
import { callOwnTool, OWN_SERVER } from "./own-tool.ts";
import type { Scope } from "./scope.ts";

export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Raw;
  /** What the child gets to see, its name for the tool and the arguments included. */
  readonly params: Raw;
  /** The tool of ours that shows what there is, for hints. */
  readonly finder?: string;
}

/**
 * The child's result as written. Rejects with MetaMcpError, or RpcError where the child answered with one.
 * Where all is known and in order nothing is awaited on the way: this is the hot path.
 */
export function callTool(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  const { server, tool: name, args } = wanted;
  if (server === OWN_SERVER) return callOwnTool(scope, wanted, request);
  requireServer(scope, server, wanted.finder);
  const tool = scope.catalog.isLive(server) ? scope.catalog.snapshot.tool(server, name) : undefined;
  const inOrder = tool && checkArguments(tool, args)?.length === 0;
  return inOrder ? send(scope, tool, wanted, request) : makeSure(scope, wanted, request);
}

/** Only the child's own list refuses a call: not the disk cache, nor what it offered before it was last disconnected. */
async function makeSure(scope: Scope, wanted: ToolCall, request: ClientRequest): Promise<Raw> {
  const { server } = wanted;
  if (scope.catalog.isLive(server)) {
    const fit = await fittingTool(scope, wanted).then(
      (tool) => ({ tool }),
      (refusal: unknown) => {
        if (scope.server(server)?.connected) throw refusal;
      },
    );
    if (fit) return await send(scope, fit.tool, wanted, request);
  }
  const lease = await connect(scope, server, request);
  try {
    return await send(scope, await fittingTool(scope, wanted), wanted, request);
  } finally {
    lease.release();
  }
}

/** Who gave up waits no longer; a connection that comes later is let go. */
async function connect(scope: Scope, server: string, { origin, signal }: ClientRequest): Promise<Lease> {
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
  const { server, params } = wanted;
  const { origin, signal, uplink } = request;
  return scope.call({
    server,
    method: "tools/call",
    params,
    origin,
    signal,
    deadline: Number.POSITIVE_INFINITY,
    repeat: tool ? repeatOf(tool.annotations) : "unknown",
    uplink,
  });
}

async function fittingTool(scope: Scope, wanted: ToolCall): Promise<Tool | undefined> {
  const tool = findTool(scope, wanted);
  if (!tool || !scope.catalog.isLive(wanted.server)) return tool;
  await prepareCheck(tool);
  const problems = checkArguments(tool, wanted.args) ?? [];
  if (problems.length === 0) return tool;
  throw misfit(scope, tool, problems);
}

/** Passes for a server that can be used; else an error that names the nearest ones or says what to mend. */
export function requireServer(scope: Scope, name: string, finder?: string): void {
  if (scope.has(name)) return;
  const status = scope.server(name);
  if (!status) {
    const names = scope.servers().map((server) => server.name);
    throw new MetaMcpError(
      "server_not_found",
      `No server "${name}" is configured. ${suggest(name, names, "server", scope.finder ?? finder)}`,
      {
        server: name,
        details: { nearest: nearest(name, names) },
      },
    );
  }
  throw new MetaMcpError(
    "server_unavailable",
    `Server "${name}" cannot be used: ${status.reason}. Mend its entry in the config; it is picked up at once.`,
    { server: name, retryable: false },
  );
}

/** A child that cannot list its tools decides by itself, within the rules: undefined where nothing is known of the tool. */
function findTool(scope: Scope, wanted: ToolCall): Tool | undefined {
  const { server, tool: name } = wanted;
  const tool = scope.catalog.snapshot.tool(server, name);
  if (tool || (!scope.catalog.isLive(server) && scope.permits(server, name))) return tool;
  throw noSuchTool(scope, wanted);
}

export function noSuchTool(
  scope: Scope,
  { server, tool: name, finder }: Pick<ToolCall, "server" | "tool" | "finder">,
): MetaMcpError {
  const { catalog, pins } = scope;
  const change = pins.enforced && pins.unapproved(server).find(({ tool }) => tool === name);
  if (change) return quarantined(server, change);
  const names = catalog.snapshot.listings.get(server)?.tools.map((other) => other.name) ?? [];
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
    `Tool "${tool}" of "${server}" ${whatHappened(change)} and is kept out of use until the user approves that. Ask the user to review it: metamcp approve ${server}`,
    { server, tool_id: toolId({ server, name: tool }), details: { kind, changed: parts } },
  );
}

function suggest(
  name: string,
  candidates: readonly string[],
  kind: "server" | "tool",
  finder = "mcp_discover",
): string {
  if (candidates.length === 0) return `There is no ${kind} at all.`;
  const close = nearest(name, candidates);
  const hint = close.length > 0 ? `Nearest: ${close.join(", ")}. ` : "";
  return `${hint}${finder} shows what there is.`;
}
