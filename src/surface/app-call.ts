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
import type { UsedPage } from "./result/links.ts";
import type { Scope, ScopeCatalog, ScopeFacts, ToolTarget } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** `otherwise` answers what is no call of an app. `scope` has the tools that are hidden from models. */
export function appCall(scope: Scope, request: ClientRequest, otherwise: () => Promise<Raw>): Promise<Raw> {
  const { origin, params } = request;
  if (!params || !knowsApps(origin.capabilities)) return otherwise();
  const { name, args = EMPTY_OBJECT, meta, others } = readParams(params);
  if (typeof name !== "string") return otherwise();
  const { links } = scope.results;
  const answer = (used: readonly UsedPage[]): Promise<Raw> => {
    const { snapshot } = scope.view(origin);
    const server = used.find((one) => {
      const tool = snapshot.tool(one.server, name);
      return tool && isFor("app", tool.definition);
    })?.server;
    if (server === undefined) return otherwise();
    const call = { server, tool: name, args, meta, written: others ? params : undefined };
    return Promise.resolve()
      .then(() => callTool(scope, call, request))
      .catch((error: unknown) => asResult(scope.log, error, "meta"));
  };
  const here = links.pagesOf(callerOf(origin));
  // The requests of a client without a session may reach another replica each.
  const elsewhere = origin.sessionless && !origin.unlisted ? scope.results.pagesElsewhere : undefined;
  if (!elsewhere) return answer(here);
  return elsewhere(callerOf(origin)).then((there) =>
    answer([...here, ...there].toSorted((a, b) => b.at - a.at)),
  );
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
