/** One MCP request over HTTP, with any credentials. */
import { HEADERS } from "./http-gateway.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

export async function mcp(
  { url }: { readonly url: string },
  endpoint: string,
  {
    token,
    session,
    headers = {},
  }: {
    readonly token?: string;
    /** With the id of a session the request is tools/list, without it initialize. */
    readonly session?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const response = await fetch(`${url}/metamcp/${endpoint}/mcp`, {
    method: "POST",
    headers: {
      ...HEADERS,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(session === undefined ? {} : { "mcp-session-id": session }),
      ...headers,
    },
    body: JSON.stringify(session === undefined ? INITIALIZE : LIST),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
