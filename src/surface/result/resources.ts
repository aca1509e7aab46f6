/**
 * Resources on surfaces that list only stored results. Resources of servers can be read too, if their server
 * is known.
 */
import { isPage } from "../../catalog/tool-app.ts";
import { callerOf } from "../../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members, withMember } from "../../rpc/slice.ts";
import { withAddresses } from "../aggregate/skill-entry.ts";
import { NEXT } from "../builtin/read.ts";
import { refuseCursor } from "../cursor.ts";
import { forward } from "../forward.ts";
import { resourceTarget } from "../resource-target.ts";
import type { Scope, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { isStoredUri } from "./store.ts";

const NOT_FOUND = -32002;
/**
 * Errors that mean that no server has the resource. Others, such as server_unavailable, are no "not found".
 */
const NO_RESOURCE: ReadonlySet<ErrorCode> = new Set(["execution_failed", "server_not_found"]);
const MAX_LISTED = 100;
const NO_TEMPLATES = toRaw({ resourceTemplates: [] });

/** Returns undefined if the request is not about resources. */
export function handleResources(scope: Scope, request: ClientRequest): Promise<Raw> | undefined {
  const { method, params, origin } = request;
  if (method === "resources/list") {
    refuseCursor(params);
    return Promise.resolve(
      list(origin.unlisted ? [] : scope.results.list(callerOf(origin)).slice(0, MAX_LISTED)),
    );
  }
  if (method === "resources/templates/list") {
    refuseCursor(params);
    return Promise.resolve(NO_TEMPLATES);
  }
  if (method !== "resources/read") return undefined;
  const [raw] = params ? members(params, ["uri"]) : [];
  const uri = raw && fromRaw(raw);
  if (typeof uri !== "string") throw RpcError.of(INVALID_PARAMS, "resources/read needs a uri");
  return isStoredUri(uri) ? Promise.resolve(stored(scope, uri, request)) : readResource(scope, uri, request);
}

/** Forwards the request to the server of the resource. */
async function readResource(scope: Scope, uri: string, request: ClientRequest): Promise<Raw> {
  try {
    const target = await resourceTarget(scope, { uri, server: undefined }, request);
    const params = withMember(request.params as Raw, "uri", toRaw(target.uri));
    const forwarded = { server: target.server, method: "resources/read", params };
    const result = await forward(scope, forwarded, request);
    if (isPage(target.uri)) scope.results.links.notePage(callerOf(request.origin), target.server);
    return target.uri === uri ? result : withAddresses(result, "contents", target.server);
  } catch (error) {
    if (!MetaMcpError.is(error) || !NO_RESOURCE.has(error.code)) throw error;
    if (request.trail) request.trail.code = error.code;
    throw RpcError.of(NOT_FOUND, error.message, { uri });
  }
}

function stored({ results }: ScopeFacts, uri: string, { origin }: ClientRequest): Raw {
  const page = results.read(callerOf(origin), uri);
  if ("missing" in page) throw RpcError.of(NOT_FOUND, page.missing, { uri });
  const { text, mimeType, plain, nextUri } = page;
  const written = plain ? "text/plain" : "application/json";
  return toRaw({
    contents: [mimeType === undefined ? { uri, mimeType: written, text } : { uri, mimeType, blob: text }],
    ...(nextUri && { _meta: { [NEXT]: nextUri } }),
  });
}

function list(stored: readonly { uri: string; source: string; bytes: number }[]): Raw {
  return toRaw({
    resources: stored.map(({ uri, source, bytes }) => ({
      uri,
      name: source,
      description: "A result that was too large to show, in pages",
      mimeType: "application/json",
      size: bytes,
    })),
  });
}
