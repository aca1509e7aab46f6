/** A remote server that identifies users by their tokens and lists different tools for each login. */
import { type HttpChild, httpChild, json, result } from "./http-child.ts";
import type { Issuer } from "./issuer.ts";

export interface UserLoginServer extends HttpChild {
  /** The login of each accepted request: its index in the order of logins at the issuer. */
  readonly users: number[];
}

export async function userLoginServer(by: Issuer): Promise<UserLoginServer> {
  const users: number[] = [];
  const child: HttpChild = await httpChild((seen, response) => {
    const { origin } = new URL(child.url);
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (seen.url.startsWith("/.well-known/oauth-protected-resource"))
      return json(response, {
        resource: child.url,
        authorization_servers: [by.url],
        scopes_supported: ["read"],
      });
    if (seen.url.startsWith("/.well-known/")) return void response.writeHead(404).end();
    const token = seen.headers.authorization?.replace(/^Bearer /, "");
    const user = by.families.findIndex((one) => !one.revoked && token !== undefined && one.access.has(token));
    const { id, method, params } = seen.message;
    if (user < 0) {
      // Real servers repeat the token in their error, so this one does too.
      const body = { jsonrpc: "2.0", id: id ?? null, error: { code: -32001, message: `no: ${token}` } };
      return json(response, body, 401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
    }
    users.push(user);
    if (seen.method === "GET") return void response.writeHead(405).end();
    if (seen.method === "DELETE" || id === undefined) return void response.writeHead(202).end();
    if (method === "initialize")
      return json(
        response,
        result(id, {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "mail", version: "1" },
        }),
      );
    if (method === "tools/list") return json(response, result(id, { tools: toolsOf(user) }));
    const name = String(params?.["name"]);
    return json(response, result(id, { content: [{ type: "text", text: `${name} by user ${user}` }] }));
  });
  return { ...child, users };
}

function toolsOf(user: number): readonly object[] {
  const inputSchema = { type: "object" };
  return [
    { name: "inbox", description: `Reads the mail of user ${user}`, inputSchema },
    { name: `folder_${user}`, description: `A folder that user ${user} alone has`, inputSchema },
  ];
}
