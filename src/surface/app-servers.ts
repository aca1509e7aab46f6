/** Which server an app means that calls a tool by its bare name. Calls nothing. */
import type { Tool } from "../catalog/tool.ts";
import { APPS, isFor, pageOf } from "../catalog/tool-app.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Scope } from "./scope.ts";

/** Longest wait for the tools of a server whose page was used before its tools were known. */
const LIST_WAIT_MS = 3_000;

/** The tool of the server that its apps may call, if this caller may. */
export function appTool(scope: Scope, server: ServerId, name: string, origin: Origin): Tool | undefined {
  const tool = scope.view(origin).snapshot.tool(server, name);
  return tool && isFor("app", tool.definition) ? tool : undefined;
}

/**
 * Those of the servers whose app may mean a tool of its own: also one that this caller may not use, or that
 * is not known.
 */
export async function meantBy(
  scope: Scope,
  name: string,
  used: readonly ServerId[],
  origin: Origin,
): Promise<readonly ServerId[]> {
  const servers = [...new Set(used)];
  const view = scope.view(origin);
  const unknown = servers.filter((one) => scope.has(one, origin) && !view.knows(one, "tools"));
  if (unknown.length > 0) await scope.loader.loadMissing(unknown, origin, LIST_WAIT_MS);
  return servers.filter((one) => {
    if (!scope.specs().has(one)) return true;
    if (view.snapshot.tool(one, name)) return appTool(scope, one, name, origin) !== undefined;
    if (!view.knows(one, "tools")) return true;
    return scope.hiding ? scope.hiding(one, name, origin) !== undefined : !scope.permits(one, name, origin);
  });
}

/**
 * The servers that have pages, any of which may have been used before this process had the session. One whose
 * tools name none may name them in results.
 */
export function withPages(scope: Scope, origin: Origin): readonly ServerId[] {
  const { listings } = scope.view(origin).snapshot;
  return [...scope.specs().keys()].filter((server) => {
    const { tools = [], about, hiddenPages = [] } = listings.get(server) ?? {};
    const names = hiddenPages.length > 0 || tools.some(({ definition }) => pageOf(definition) !== undefined);
    return names || about?.extensions?.includes(APPS);
  });
}
