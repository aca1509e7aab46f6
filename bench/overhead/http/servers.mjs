// The measured servers over HTTP: how to start each one, and how to call a tool of the child through it.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSession } from "./load.mjs";
import { Running, temp } from "./running.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bench = join(here, "../..");
const root = join(bench, "..");
const node = process.execPath;
const CHILD = join(root, "test/fixture/child.mjs");

/** Waits until the server answers, and opens a session. */
async function ready(server) {
  server.url ??= await server.untilOutput(/http:\/\/\S+\/mcp\b/);
  server.session = await server.retry(() => openSession(server.url));
  return server;
}

const plain = (_server, name, args) => ({ name, arguments: args });
const child = () => ({ command: node, args: [CHILD] });

function config(children) {
  const file = join(temp, `${children}.json`);
  const mcpServers = Object.fromEntries(Array.from({ length: children }, (_, i) => [`s${i}`, child()]));
  // Results of 1 MB must be forwarded and not replaced by a preview.
  writeFileSync(file, JSON.stringify({ mcpServers, maxResultBytes: 1 << 30 }));
  return file;
}

export function metamcp(name, { flags = [], children = 1, probe = false, dist = join(root, "dist") } = {}) {
  const probing = probe ? ["--import", join(root, "test/support/memory-probe.mjs")] : [];
  const transport = ["--transport", "streamable", "--port", "0", "--log-level", "error"];
  const args = [...probing, join(dist, "metamcp.js"), "--config", config(children), ...transport, ...flags];
  return {
    name,
    start: () => ready(new Running(name, node, args, { METAMCP_HOME: join(temp, "home") })),
    call: (server, tool, args_) => ({
      name: "mcp_call",
      arguments: { server: `s${server}`, tool, args: args_ },
    }),
  };
}

/**
 * The same process with a client of era 2026, which has no session and sends its metadata with each request.
 */
export function era2026(name) {
  const target = metamcp(name);
  const key = "io.modelcontextprotocol/";
  const _meta = { [`${key}protocolVersion`]: "2026-07-28", [`${key}clientCapabilities`]: {} };
  return {
    ...target,
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "mcp_call",
    },
    call: (...args) => ({ ...target.call(...args), _meta }),
  };
}

export function build() {
  const { status } = spawnSync(node, [join(root, "scripts/setup.mjs")], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("dist/ cannot be built");
}

export const bare = {
  name: "bare front",
  start: () => ready(new Running("bare front", node, [join(here, "front.mjs"), node, CHILD])),
  call: plain,
};

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function peer(name, argsFor) {
  return {
    name,
    async start() {
      const port = await freePort();
      const server = new Running(name, node, argsFor(port));
      server.url = `http://127.0.0.1:${port}/mcp`;
      return await ready(server);
    },
    call: plain,
  };
}

/** The peers that offer a stdio server over HTTP. They are installed into bench/node_modules on demand. */
export function peers(problem) {
  const args = ["install", "--ignore-scripts", "--loglevel=error", "--no-package-lock"];
  if (spawnSync("npm", args, { cwd: bench, stdio: ["ignore", 2, 2] }).status !== 0) {
    problem("peers: cannot be installed");
    return [];
  }
  const proxy = join(bench, "node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs");
  const super_ = join(bench, "node_modules/supergateway/dist/index.js");
  return [
    peer("mcp-proxy", (port) => [proxy, "--host", "127.0.0.1", "--port", port, "--", node, CHILD]),
    peer("supergateway", (port) => [
      super_,
      ...["--stdio", `${node} ${CHILD}`, "--outputTransport", "streamableHttp", "--stateful"],
      ...["--port", port, "--logLevel", "none"],
    ]),
  ];
}
