/**
 * Remote servers that require a token of their issuer. The tool `read` needs the scope `read`, `write` the
 * scope `write`.
 */
import type { ServerResponse } from "node:http";
import { error, events, type HttpChild, httpChild, json, result, type SeenRequest } from "./http-child.ts";
import type { Issuer } from "./issuer.ts";

export interface GuardedChild extends HttpChild {
  /** The issuer whose tokens are accepted. A test may replace it. */
  by: Issuer;
  /** The tokens of all requests, in order; "" for a request without a token. */
  readonly shown: string[];
  /** Calls of `hold` that wait; calling the function answers one. */
  readonly held: (() => void)[];
}

export type Kind = "legacy" | "2026" | "sse";

const SCOPES: Readonly<Record<string, string>> = { read: "read", write: "write", hold: "read" };
const TOOLS = Object.keys(SCOPES).map((name) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
}));
const VERSION = "2026-07-28";

export async function guardedChild(by: Issuer, kind: Kind = "legacy"): Promise<GuardedChild> {
  const shown: string[] = [];
  const held: (() => void)[] = [];
  const streams = new Set<ServerResponse>();
  const child: HttpChild = await httpChild((seen, response) => {
    if (seen.url.startsWith("/.well-known/oauth-protected-resource")) {
      const { origin } = new URL(guarded.url);
      json(response, {
        resource: `${origin}/mcp`,
        authorization_servers: [guarded.by.url],
        scopes_supported: ["read"],
      });
      return;
    }
    if (seen.url.startsWith("/.well-known/")) {
      response.writeHead(404).end();
      return;
    }
    if (!isAdmitted(guarded, seen, response)) return;
    if (kind === "sse") speakSse(seen, response, streams);
    else if (seen.method === "GET") response.writeHead(405).end();
    else if (seen.method === "DELETE" || seen.message.id === undefined) response.writeHead(202).end();
    else if (seen.message.params?.["name"] === "hold") held.push(() => json(response, legacy(seen)));
    else json(response, (kind === "2026" ? era2026 : legacy)(seen));
  });
  const guarded: GuardedChild = { ...child, by, shown, held };
  return guarded;
}

function isAdmitted({ by, shown, url }: GuardedChild, seen: SeenRequest, response: ServerResponse): boolean {
  const token = seen.headers.authorization?.replace(/^Bearer /, "");
  shown.push(token ?? "");
  const holder = by.holderOf(token);
  const metadata = `resource_metadata="${new URL(url).origin}/.well-known/oauth-protected-resource/mcp"`;
  if (!holder || holder.resource !== `${new URL(url).origin}/mcp`) {
    const fault = token === undefined ? "" : 'error="invalid_token", ';
    // Real servers repeat the token in their error, so this one does too.
    const body = {
      jsonrpc: "2.0",
      id: seen.message.id ?? null,
      error: { code: -32001, message: `no: ${token}` },
    };
    json(response, body, 401, { "www-authenticate": `Bearer ${fault}${metadata}, scope="read"` });
    return false;
  }
  const needed =
    seen.message.method === "tools/call" ? SCOPES[String(seen.message.params?.["name"])] : undefined;
  if (needed === undefined || holder.scopes.includes(needed)) return true;
  const challenge = `Bearer error="insufficient_scope", scope="${needed}", ${metadata}`;
  response.writeHead(403, { "www-authenticate": challenge }).end();
  return false;
}

function legacy({ message: { id, method, params } }: SeenRequest): unknown {
  const version = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "guarded" },
  };
  if (method === "initialize") return result(id, version);
  if (method === "tools/list") return result(id, { tools: TOOLS });
  if (method === "tools/call")
    return result(id, { content: [{ type: "text", text: `did ${String(params?.["name"])}` }] });
  return method === "ping" ? result(id) : error(id, -32601, "Method not found");
}

function era2026(seen: SeenRequest): unknown {
  const { id, method } = seen.message;
  if (method === "initialize") return error(id, -32601, "Method not found");
  if (method === "server/discover") {
    const about = { supportedVersions: [VERSION], capabilities: { tools: {} }, resultType: "complete" };
    return result(id, { ...about, ttlMs: 0, cacheScope: "private" });
  }
  const { result: value, ...rest } = legacy(seen) as { result?: object };
  return value ? { ...rest, result: { resultType: "complete", ...value } } : rest;
}

function speakSse(seen: SeenRequest, response: ServerResponse, streams: Set<ServerResponse>): void {
  if (seen.method === "GET") {
    streams.add(response);
    events(response).write("event: endpoint\ndata: /messages\n\n");
    response.on("close", () => streams.delete(response));
    return;
  }
  response.writeHead(202).end();
  if (seen.message.id === undefined) return;
  for (const stream of streams) stream.write(`data: ${JSON.stringify(legacy(seen))}\n\n`);
}
