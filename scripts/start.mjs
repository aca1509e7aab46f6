// `npm start`: MetaMCP in front of the demo servers. With a client on stdin it is the stdio server; on a terminal it shows itself.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const config = join(root, "demo", "mcp.json");
const metamcp = join(root, "dist", "metamcp.js");

await import("./setup.mjs");

if (process.stdin.isTTY) show();
else {
  process.argv.splice(1, process.argv.length, metamcp, "--config", config);
  await import(metamcp);
}

function show() {
  console.log(`
MetaMCP is one MCP server in front of all the others. A client sees two tools, mcp_discover and mcp_call;
the servers behind them start when they are first needed. The demo has four: ${config}
`);
  run("tools");
  run("search", "read a text file", "--limit", "3");
  run("call", "everything", "get-sum", "a=20", "b=22");
  console.log(`
Next:
  node dist/metamcp.js --help                           what else it can do
  node dist/metamcp.js doctor --config demo/mcp.json    check every server
Put it in front of your own servers: copy the mcpServers of your client into ~/.metamcp/mcp.json
and give the client this one entry instead:

  "metamcp": { "command": "node", "args": ["${metamcp}"] }
`);
}

function run(command, ...args) {
  console.log(
    `$ metamcp ${[command, ...args].map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}`,
  );
  spawnSync(process.execPath, [metamcp, command, ...args, "--config", config], { stdio: ["ignore", 1, 2] });
  console.log();
}
