/** Which server an app means that calls a tool by its bare name. Calls nothing. */
import { hasPages } from "../catalog/snapshot.ts";
import type { Tool } from "../catalog/tool.ts";
import { isFor } from "../catalog/tool-app.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Scope } from "./scope.ts";

/** Longest wait for the tools of a server whose page was used before its tools were known. */
const LIST_WAIT_MS = 3_000;

/** The tool of the server that its apps may call, if this caller may. */
export function appTool(scope: Scope, server: ServerId, name: string, origin: Origin): Tool | undefined {
  const tool = scope.view(origin).snapshot.tool(server, name);
  return tool && isFor("app", tool.definition) ? tool : undefined;
}

interface Used {
  readonly servers: readonly ServerId[];
  /** Whether those count that may have such a tool for all that is known, also if they are gone. */
  readonly unknown: boolean;
}

/** Those of the used servers whose app may mean a tool of its own: also one that this caller may not use. */
export async function meantBy(
  scope: Scope,
  name: string,
  used: Used,
  origin: Origin,
): Promise<readonly ServerId[]> {
  const servers = [...new Set(used.servers)];
  const view = scope.view(origin);
  const unknown = servers.filter((one) => scope.has(one, origin) && !view.knows(one, "tools"));
  if (unknown.length > 0) await scope.loader.loadMissing(unknown, origin, LIST_WAIT_MS);
  return servers.filter((one) => {
    if (!scope.specs().has(one)) return used.unknown;
    const hidden = view.snapshot.listings.get(one)?.hidden?.find((each) => each.name === name);
    const tool = view.snapshot.tool(one, name) ?? hidden;
    if (tool) return isFor("app", tool.definition);
    if (!used.unknown) return false;
    if (!view.knows(one, "tools")) return true;
    return scope.hiding ? scope.hiding(one, name, origin) !== undefined : !scope.permits(one, name, origin);
  });
}

/**
 * The servers that have pages, or may have, any of which may have been used before this process had the
 * session. The tools of some may be known only where the session was.
 */
export async function withPages(scope: Scope, origin: Origin): Promise<readonly ServerId[]> {
  const servers = [...scope.specs().keys()].filter((one) => scope.has(one, origin));
  await scope.loader.loadMissing(servers, origin, LIST_WAIT_MS);
  const { listings } = scope.view(origin).snapshot;
  return servers.filter((one) => {
    const listing = listings.get(one);
    return listing === undefined || hasPages(listing);
  });
}
