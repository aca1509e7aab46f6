/** The tool behind an id, wherever it is known from; an error that says what to do where it is not. */
import { readTool } from "../../catalog/read-tool.ts";
import type { Tool } from "../../catalog/tool.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { toRaw } from "../../kernel/raw.ts";
import { noSuchTool, requireServer } from "../call-tool.ts";
import type { ClientRequest } from "../face.ts";
import { noOwnTool, OWN_SERVER, READ } from "../own-tool.ts";
import type { Scope } from "../scope.ts";
import type { ToolName } from "./tool-id.ts";

const OWN_TOOL = readTool(OWN_SERVER, toRaw(READ));
const FINDER = "list_tools";

/** Without asking anybody. */
export function knownTool(scope: Scope, { server, tool }: ToolName): Tool | undefined {
  if (server === OWN_SERVER) return tool === READ.name ? OWN_TOOL : undefined;
  return scope.catalog.snapshot.tool(server, tool);
}

function ownTool({ tool }: ToolName): Tool {
  if (tool !== READ.name || !OWN_TOOL) throw noOwnTool(tool);
  return OWN_TOOL;
}

/** Starts the server where nothing is known of it, or nothing fresh that has the tool. */
export async function requireTool(scope: Scope, name: ToolName, request: ClientRequest): Promise<Tool> {
  const { server, id } = name;
  if (server === OWN_SERVER) return ownTool(name);
  requireServer(scope, server, FINDER);
  const [unknown] = await scope.learner.learn([server], request.origin);
  const known = knownTool(scope, name);
  if (known) return known;
  if (unknown) {
    const { reason = unknown.reason, retryAfterMs } = scope.server(server) ?? {};
    throw new MetaMcpError("server_unavailable", `What ${server} offers is not known: ${reason}`, {
      server,
      tool_id: id,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  if (scope.has(server) && !scope.catalog.isLive(server)) {
    const lease = await scope.connect(server, request.origin);
    lease.release();
  }
  const fresh = knownTool(scope, name);
  if (fresh) return fresh;
  throw noSuchTool(scope, { server, tool: name.tool, finder: FINDER });
}
