// An MCP server for pictures of the console: node demo-server.mjs NAME. Its tools take about as long, and fail
// about as often, as those of the real server of this name. It calls nothing.
import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { SERVERS } from "./demo-tools.mjs";

const name = process.argv[2];
const { tools, starts } = SERVERS[name];
if (starts !== undefined) {
  console.error(starts);
  process.exit(1);
}
const server = new Server({ name, version: "1.4.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map(({ name, description, annotations, inputSchema }) => ({
    name,
    description,
    annotations,
    inputSchema,
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const { ms = 40, fails, answers = { ok: true } } = tools.find((tool) => tool.name === params.name) ?? {};
  await sleep(ms * (0.4 + Math.random() ** 3 * 3));
  if (fails && Math.random() < fails.share)
    return { content: [{ type: "text", text: fails.text }], isError: true };
  return { content: [{ type: "text", text: JSON.stringify(answers) }], structuredContent: answers };
});
await server.connect(new StdioServerTransport());
