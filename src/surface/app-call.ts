/**
 * Calls of apps (MCP Apps). An app names a tool of its server as the server does; the server is the one whose
 * page the client used, of those that have such a tool for apps. Nothing in a call says which app it is from,
 * so a name of several of them is refused: what an app sends must not reach another server.
 */
import type { Tool } from "../catalog/tool.ts";
import { isFor, knowsApps, pageOf, withNewPage } from "../catalog/tool-app.ts";
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

export interface AppCall {
  /** With the tools that are hidden from models. */
  readonly scope: Scope;
  /** The tool that the client sees under this very name. */
  readonly listed?: Tool | undefined;
  /** Answers what is no call of an app. */
  readonly otherwise: () => Promise<Raw>;
}

export function appCall({ scope, listed, otherwise }: AppCall, request: ClientRequest): Promise<Raw> {
  const { origin, params } = request;
  if (!params || !knowsApps(origin.capabilities)) return otherwise();
  const { name, args = EMPTY_OBJECT, meta, others: more } = readParams(params);
  if (typeof name !== "string") return otherwise();
  const refuse = (reason: string): never => {
    recordRefusal(scope, { server: "", tool: name, args }, request, { code: "tool_not_found" });
    throw RpcError.of(INVALID_PARAMS, `Unknown tool: ${name}. ${reason}`);
  };
  const whenListed = async ({ server, name: own, definition }: Tool, used: readonly ServerId[]) => {
    if (!isFor("model", definition) && !used.includes(server)) return refuse(onlyApps(server));
    // A name with a prefix is no name that an app knows. Most calls of listed tools are the model's: a server
    // that is gone or was never listed must not stop them.
    const all = name === own ? await meantBy(scope, name, { servers: used, unknown: false }, origin) : [];
    const others = all.filter((one) => one !== server);
    if (others.length === 0) return await otherwise();
    return refuse(ambiguous([server, ...others.filter((one) => scope.has(one, origin))]));
  };
  const answer = async (used: readonly ServerId[]): Promise<Raw> => {
    if (listed) return await whenListed(listed, used);
    const servers = await meantBy(scope, name, { servers: used, unknown: true }, origin);
    const usable = servers.filter((one) => appTool(scope, one, name, origin));
    const [server] = usable;
    if (server === undefined) return await otherwise();
    if (servers.length > 1) return refuse(ambiguous(usable));
    const call = { server, tool: name, args, meta, written: more ? params : undefined };
    try {
      return withOwnPage(await callTool(scope, call, request), server);
    } catch (error) {
      return asResult(scope.log, error, "meta");
    }
  };
  const here = scope.results.links.pagesOf(callerOf(origin));
  if (origin.resumed) return withPages(scope, origin).then((pages) => answer([...here, ...pages]));
  // The requests of a client without a session may reach another replica each.
  const elsewhere = origin.sessionless ? scope.results.pagesElsewhere : undefined;
  if (!elsewhere) return answer(here);
  return elsewhere(callerOf(origin)).then((there) => {
    if (!there) throw RpcError.of(INTERNAL_ERROR, `${UNCERTAIN}: ${name.slice(0, 200)}`);
    return answer([...here, ...there]);
  });
}

const onlyApps = (server: ServerId): string =>
  `Only the app of ${server} may call it, and this client has used no page of that server`;

function ambiguous(servers: readonly ServerId[]): string {
  return (
    `Apps of several servers that were used may mean it (${someOf(servers)}), and which app calls is not ` +
    "known: it must call a listed name, or each server needs an endpoint of its own"
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
