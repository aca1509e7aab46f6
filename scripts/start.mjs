// `npm start`: MetaMCP in front of the demo servers. With a client on stdin it is the stdio server; on a terminal it shows
// itself and then serves over HTTP.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const config = join(root, "demo", "mcp.json");
const metamcp = join(root, "dist", "metamcp.js");

await import("./setup.mjs");

if (process.stdin.isTTY) {
  show();
  await serve("--transport", "streamable", "--port", "0", "--log-level", "warn");
} else await serve();

/** In this very process: a signal, or the end of stdin, reaches it without a detour. */
async function serve(...flags) {
  process.argv.splice(1, process.argv.length, metamcp, "--config", config, ...flags);
  await import(metamcp);
}

function show() {
  console.log(`
MetaMCP is one MCP server in front of all the others. A client sees four small tools instead of every tool of every
server, and the servers start when they are first needed. The demo has four: ${config}
`);
  run("search", "read a text file", "--limit", "3");
  run("call", "everything", "get-sum", "a=20", "b=22");
  run("tools");
  console.log(`Put it in front of your own servers (--help shows all commands):

  npm install --global .   in this folder
  metamcp import           takes over the servers that your clients have
  metamcp doctor           starts each once and says what is wrong
  metamcp init             puts MetaMCP into your clients; --undo takes it out again

The demo is now served over HTTP, for clients that take an address; Ctrl-C ends it:`);
}

function run(command, ...args) {
  console.log(
    `$ metamcp ${[command, ...args].map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}`,
  );
  spawnSync(process.execPath, [metamcp, command, ...args, "--config", config], { stdio: ["ignore", 1, 2] });
  console.log();
}
