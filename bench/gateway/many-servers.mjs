// As many MCP servers as are wanted, in this process: each lists the same tools at a path of its own.
import { createServer } from "node:http";

/** About as large as tools are. */
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

/** Entries of a document, and what ends them. */
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
