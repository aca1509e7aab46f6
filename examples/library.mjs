// MetaMCP as a library: configure a server, find a tool, call it. Run with: node examples/library.mjs
import { fileURLToPath } from "node:url";
import { createMetaMcp, MetaMcpError } from "metamcp";

const server = new URL(
  "../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
  import.meta.url,
);
const metamcp = await createMetaMcp({
  config: { mcpServers: { everything: { command: "node", args: [fileURLToPath(server)] } } },
});

const { tools } = await metamcp.discover("add two numbers");
const [best] = tools;
console.log(`${best.server} ${best.signature}`);

const { content } = await metamcp.call(best.server, best.tool, { a: 20, b: 22 });
console.log(content[0].text);

try {
  await metamcp.call("everything", best.tool, { a: "twenty" });
} catch (error) {
  if (!(error instanceof MetaMcpError)) throw error;
  console.log(`${error.code}, retryable: ${error.retryable}`);
}

await metamcp.close();
