/**
 * Calls of apps (MCP Apps). An app names a tool of its server as the server does; the server is the one whose
 * page the client used last, of those that have such a tool for apps.
 */
import { isFor, knowsApps, pageOf, withNewPage } from "../catalog/tool-app.ts";
import { callerOf } from "../kernel/call.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { addressOf } from "./aggregate/uris.ts";
import { readParams } from "./call-params.ts";
import { callTool } from "./call-tool.ts";
import { asResult } from "./failure.ts";
import type { Scope, ScopeCatalog, ScopeFacts, ToolTarget } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** Returns undefined if the request is no call of an app. `scope` has the tools that are hidden from models. */
export function appCall(scope: Scope, request: ClientRequest): Promise<Raw> | undefined {
  const { origin, params } = request;
  if (!params || !knowsApps(origin.capabilities)) return undefined;
  const { name, args = EMPTY_OBJECT, meta, others } = readParams(params);
  if (typeof name !== "string") return undefined;
  const { snapshot } = scope.view(origin);
  const server = scope.results.links.pagesOf(callerOf(origin)).find((one) => {
    const tool = snapshot.tool(one, name);
    return tool && isFor("app", tool.definition);
  });
  if (server === undefined) return undefined;
  const call = { server, tool: name, args, meta, written: others ? params : undefined };
  return Promise.resolve()
    .then(() => callTool(scope, call, request))
    .catch((error: unknown) => asResult(scope.log, error, "meta"));
}

/** For a surface that does not list the tool: a result that names its page, if the client draws pages. */
export function withPageOf(
  scope: ScopeCatalog & ScopeFacts,
  { server, tool }: ToolTarget,
  result: Raw,
  { origin }: ClientRequest,
): Raw {
  if (!knowsApps(origin.capabilities)) return result;
  const definition = scope.view(origin).snapshot.tool(server, tool)?.definition;
  const uri = pageOf(result) ?? (definition && pageOf(definition));
  if (uri === undefined) return result;
  scope.results.links.notePage(callerOf(origin), server);
  return withNewPage(result, addressOf(server, uri));
}
