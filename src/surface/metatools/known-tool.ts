/** Finds the tool with an id among own tools and children's tools. Errors say what to do. */

import type { Tool } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import type { Origin } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { builtinTools, requireBuiltinTool } from "../builtin/tools.ts";
import { noSuchTool } from "../no-such-tool.ts";
import { requireServer } from "../require-server.ts";
import type { ScopeCalls, ScopeCatalog } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import type { ToolName } from "./tool-id.ts";

const FINDER = "list_tools";

/** Looks only in memory. */
export function knownTool(scope: ScopeCatalog, { server, tool }: ToolName, origin: Origin): Tool | undefined {
  if (server === BUILTIN_SERVER) return builtinTools(scope, origin).find(({ name }) => name === tool);
  return scope.view(origin).snapshot.tool(server, tool);
}

/** Starts the server if its tools are not known, or if an outdated list does not have the tool. */
export async function requireTool(
  scope: ScopeCatalog & ScopeCalls,
  name: ToolName,
  request: ClientRequest,
): Promise<Tool> {
  const { server, id } = name;
  if (server === BUILTIN_SERVER) return requireBuiltinTool(scope, name.tool, request.origin);
  const { origin } = request;
  requireServer(scope, server, origin, FINDER);
  const [unknown] = await scope.loader.loadMissing([server], origin);
  const known = knownTool(scope, name, origin);
  if (known) return known;
  if (unknown) {
    const { reason = unknown.reason, retryAfterMs, refusal } = scope.server(server, origin) ?? {};
    if (refusal) throw refusal;
    throw new MetaMcpError("server_unavailable", `The tools of ${server} are not known: ${reason}`, {
      server,
      tool_id: id,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  if (scope.has(server, origin) && !scope.view(origin).isLive(server)) {
    const lease = await scope.connect(server, origin);
    lease.release();
  }
  const fresh = knownTool(scope, name, origin);
  if (fresh) return fresh;
  throw noSuchTool(scope, { server, tool: name.tool, finder: FINDER }, origin);
}
