/** Names as code writes them: `tools.my_server.get_sum` means the server my-server and its tool get-sum. Only where exactly one fits. */
import type { ClientRequest } from "../face.ts";
import { OWN_SERVER } from "../own-tool.ts";
import type { Scope } from "../scope.ts";

export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

export async function resolveName(scope: Scope, wanted: ToolName, request: ClientRequest): Promise<ToolName> {
  if (wanted.server === OWN_SERVER) return wanted;
  const server = scope.has(wanted.server)
    ? wanted.server
    : (only(wanted.server, scope.specs().keys()) ?? wanted.server);
  if (!scope.has(server) || scope.catalog.snapshot.tool(server, wanted.tool))
    return { server, tool: wanted.tool };
  if (!scope.catalog.snapshot.listings.has(server)) {
    await scope.catalog.loadCached();
    if (!scope.catalog.snapshot.listings.has(server)) await scope.learner.learn([server], request.origin);
  }
  const { snapshot } = scope.catalog;
  if (snapshot.tool(server, wanted.tool)) return { server, tool: wanted.tool };
  const names = snapshot.listings.get(server)?.tools.map(({ name }) => name) ?? [];
  return { server, tool: only(wanted.tool, names) ?? wanted.tool };
}

function only(written: string, names: Iterable<string>): string | undefined {
  const plain = identifier(written);
  const fitting = [...names].filter((name) => identifier(name) === plain);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** `get-sum`, `get_sum` and `getSum` are one. */
function identifier(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
