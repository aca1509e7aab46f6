// `npm start`: MetaMCP with the demo servers. If stdin is not a terminal, it serves a client on stdio. At a
// terminal it shows a few commands and then serves over HTTP.
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
} else {
  console.error(
    "No terminal: serving the demo servers to a client on stdio. For HTTP: node dist/metamcp.js --config demo/mcp.json --transport streamable",
  );
  await serve();
}

/** Serves in this process, so that signals and the end of stdin reach it directly. */
async function serve(...flags) {
  process.argv.splice(1, process.argv.length, metamcp, "--config", config, ...flags);
  await import(metamcp);
}

function show() {
  console.log(`
MetaMCP is one MCP server in front of all the others. A client sees four small
tools instead of every tool of every server, and a server starts when it is
first needed. This demo has four servers:
${config}
`);
  run("search", "read a text file", "--limit", "3");
  run("call", "everything", "get-sum", "a=20", "b=22");
  run("tools");
  console.log(`Put it in front of your own servers (--help shows all commands):

  npm install --global .   in this folder
  metamcp import           copy the servers that your clients have
  metamcp doctor           start each once and show what is wrong
  metamcp init             connect your clients; --undo disconnects them

For a team, with a console in the browser and the same demo servers:

  metamcp serve --import demo/mcp.json --open

The demo now runs over HTTP, for clients that take an address. Ctrl-C stops it:`);
}

function run(command, ...args) {
  console.log(
    `$ metamcp ${[command, ...args].map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}`,
  );
  spawnSync(process.execPath, [metamcp, command, ...args, "--config", config], { stdio: ["ignore", 1, 2] });
  console.log();
}
