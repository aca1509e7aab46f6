// Many MCP servers in this process. Each has its own path, and all list the same tools.
import { createServer } from "node:http";

/** A tool definition of typical size. */
export function definition(at) {
  const properties = Object.fromEntries(
    ["query", "limit", "cursor"].map((key) => [
      key,
      { type: "string", description: `what ${key} means `.repeat(4) },
    ]),
  );
  const description = "What it does, in about as many words as tools have. ".repeat(6);
  return { name: `tool_${at}`, description, inputSchema: { type: "object", properties } };
}

const INFO = { capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } };

/** Returns server entries for a config document, and a function that ends the servers. */
export async function manyServers(count, toolsEach) {
  const tools = Array.from({ length: toolsEach }, (_, at) => definition(at));
  const results = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, ...INFO }),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({ content: [{ type: "text", text: "ok" }] }),
    ping: () => ({}),
  };
  const server = createServer((request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    let text = "";
    request.setEncoding("utf8").on("data", (part) => (text += part));
    return request.on("end", () => {
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return response.writeHead(202).end();
      const outcome = results[method]
        ? { result: results[method](params) }
        : { error: { code: -32601, message: "Method not found" } };
      const answer = JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
      return response.writeHead(200, { "content-type": "application/json" }).end(answer);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const servers = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`server${at}`, { url: `${base}/${at}` }]),
  );
  return { servers, close: () => server.close().closeAllConnections() };
}
