/**
 * Calls of apps (MCP Apps). An app names a tool of its server as the server does; the server is the one whose
 * page the client used, of those that have such a tool for apps. Nothing in a call says which app it is from,
 * so a name of several of them is refused: what an app sends must not reach another server.
 */
import { knowsApps, pageOf, withNewPage } from "../catalog/tool-app.ts";
import { callerOf, type ServerId } from "../kernel/call.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { withOwnPage } from "./aggregate/pages.ts";
import { addressOf } from "./aggregate/uris.ts";
import { appTool, meantBy, withPages } from "./app-servers.ts";
import { readParams } from "./call-params.ts";
import { callTool } from "./call-tool.ts";
import { asResult } from "./failure.ts";
import { recordRefusal } from "./recorded.ts";
import type { Scope, ScopeCatalog, ScopeFacts, ToolTarget } from "./scope.ts";
import { someOf } from "./server-names.ts";
import type { ClientRequest } from "./surface.ts";

const UNCERTAIN = "Another gateway does not answer, so it is not known whose app calls. Try again";

/** `otherwise` answers what is no call of an app. `scope` has the tools that are hidden from models. */
export function appCall(scope: Scope, request: ClientRequest, otherwise: () => Promise<Raw>): Promise<Raw> {
  const { origin, params } = request;
  if (!params || !knowsApps(origin.capabilities)) return otherwise();
  const { name, args = EMPTY_OBJECT, meta, others: more } = readParams(params);
  if (typeof name !== "string") return otherwise();
  const { links } = scope.results;
  const answer = async (used: readonly ServerId[]): Promise<Raw> => {
    const servers = await meantBy(scope, name, used, origin);
    const usable = servers.filter((one) => appTool(scope, one, name, origin));
    const [server] = usable;
    if (server === undefined) return await otherwise();
    if (servers.length > 1) {
      recordRefusal(scope, { server: "", tool: name, args }, request, { code: "tool_not_found" });
      throw RpcError.of(INVALID_PARAMS, ambiguous(name, usable));
    }
    const call = { server, tool: name, args, meta, written: more ? params : undefined };
    try {
      return withOwnPage(await callTool(scope, call, request), server);
    } catch (error) {
      return asResult(scope.log, error, "meta");
    }
  };
  const here = links.pagesOf(callerOf(origin));
  if (origin.resumed) return answer([...here, ...withPages(scope, origin)]);
  // The requests of a client without a session may reach another replica each.
  const elsewhere = origin.sessionless && !origin.unlisted ? scope.results.pagesElsewhere : undefined;
  if (!elsewhere) return answer(here);
  return elsewhere(callerOf(origin)).then((there) => {
    if (!there) throw RpcError.of(INTERNAL_ERROR, `${UNCERTAIN}: ${name.slice(0, 200)}`);
    return answer([...here, ...there]);
  });
}

function ambiguous(name: string, servers: readonly ServerId[]): string {
  return (
    `Unknown tool: ${name}. Apps of several servers that were used may mean it (${someOf(servers)}), and which ` +
    "app calls is not known: it must call a listed name, or each server needs an endpoint of its own"
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
