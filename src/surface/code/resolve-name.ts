/**
 * Resolves names written as identifiers: `tools.my_server.get_sum` means server `my-server` and tool
 * `get-sum`, if exactly one matches.
 */

import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import type { Asker } from "../../kernel/list-key.ts";

import type { ScopeCatalog } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";

export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

export async function resolveName(
  scope: ScopeCatalog,
  wanted: ServerTool,
  request: ClientRequest,
): Promise<ServerTool> {
  if (wanted.server === BUILTIN_SERVER) return wanted;
  const server = resolveServer(scope, wanted.server, request.origin);
  const view = scope.view(request.origin);
  if (!scope.has(server, request.origin) || view.snapshot.tool(server, wanted.tool))
    return { server, tool: wanted.tool };
  if (!view.snapshot.listings.has(server)) {
    await view.loadCached();
    if (!view.snapshot.listings.has(server)) await scope.loader.loadMissing([server], request.origin);
  }
  const { snapshot } = view;
  if (snapshot.tool(server, wanted.tool)) return { server, tool: wanted.tool };
  const names = snapshot.listings.get(server)?.tools.map(({ name }) => name) ?? [];
  return { server, tool: onlyMatch(wanted.tool, names) ?? wanted.tool };
}

export function resolveServer(scope: ScopeCatalog, written: string, asker: Asker): string {
  if (scope.has(written, asker)) return written;
  const names = [...scope.specs().keys()].filter((name) => scope.has(name, asker));
  return onlyMatch(written, names) ?? written;
}

function onlyMatch(written: string, names: Iterable<string>): string | undefined {
  const plain = identifier(written);
  const fitting = [...names].filter((name) => identifier(name) === plain);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** `get-sum`, `get_sum` and `getSum` are equal. */
function identifier(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
