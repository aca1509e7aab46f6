// Who is measured over HTTP: a process, its URL, and how a tool of the child is called through it.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openSession } from "./load.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bench = join(here, "../..");
const root = join(bench, "..");
const node = process.execPath;
const CHILD = join(root, "test/fixture/child.mjs");

const temp = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(temp, { recursive: true, force: true });
});
process.once("SIGINT", () => process.exit(130));

/** A running process that can be asked what it costs. */
class Running {
  #process;
  #probe = join(temp, `probe-${Math.random().toString(36).slice(2)}`);
  constructor(name, command, args, env) {
    this.name = name;
    this.stderr = "";
    this.#process = spawn(command, args, {
      env: { ...process.env, ...env, PROBE_FILE: this.#probe },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout.on("data", (chunk) => this.#hear(chunk));
    this.#process.stderr.on("data", (chunk) => this.#hear(chunk));
    running.add(this.#process);
    this.#process.once("exit", () => running.delete(this.#process));
  }
  #hear(chunk) {
    this.stderr = (this.stderr + chunk).slice(-4000);
    this.url ??= /http:\/\/\S+\/mcp\b/.exec(this.stderr)?.[0];
  }
  /** Until it answers. */
  async ready() {
    for (let i = 0; i < 600; i++) {
      if (this.#process.exitCode !== null) break;
      if (this.url) {
        try {
          this.session = await openSession(this.url);
          return this;
        } catch (error) {
          this.trouble = error.message;
        }
      }
      await pause(50);
    }
    throw new Error(`${this.name} does not answer: ${this.trouble ?? ""} ${this.stderr.slice(-300)}`);
  }
  /** CPU in µs, all threads; children are not in it. */
  cpu() {
    const tasks = `/proc/${this.#process.pid}/task`;
    const ns = (task) => Number(readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ", 1)[0]);
    return readdirSync(tasks).reduce((sum, task) => sum + ns(task), 0) / 1_000;
  }
  /** Bytes in use after a collection, and resident. Only where the probe is loaded. */
  async memory() {
    rmSync(this.#probe, { force: true });
    this.#process.kill("SIGUSR2");
    for (;;) {
      try {
        return JSON.parse(readFileSync(this.#probe, "utf8"));
      } catch {
        await pause(20);
      }
    }
  }
  async stop() {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode !== null) return;
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 8_000);
    await gone;
    clearTimeout(timer);
  }
}

const plain = (_server, name, args) => ({ name, arguments: args });
const child = () => ({ command: node, args: [CHILD] });

function config(children) {
  const file = join(temp, `${children}.json`);
  const mcpServers = Object.fromEntries(Array.from({ length: children }, (_, i) => [`s${i}`, child()]));
  // Results of 1 MB are to be carried, not replaced by a preview.
  writeFileSync(file, JSON.stringify({ mcpServers, maxResultBytes: 1 << 30 }));
  return file;
}

export function metamcp(name, { flags = [], children = 1, probe = false, dist = join(root, "dist") } = {}) {
  const probing = probe ? ["--import", join(root, "test/support/memory-probe.mjs")] : [];
  const transport = ["--transport", "streamable", "--port", "0", "--log-level", "error"];
  const args = [...probing, join(dist, "metamcp.js"), "--config", config(children), ...transport, ...flags];
  return {
    name,
    start: () => new Running(name, node, args, { METAMCP_HOME: join(temp, "home") }).ready(),
    call: (server, tool, args_) => ({
      name: "mcp_call",
      arguments: { server: `s${server}`, tool, args: args_ },
    }),
  };
}

/** The same process for a client of the stateless era, which names no session and says everything each time. */
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
    call: (...what) => ({ ...target.call(...what), _meta }),
  };
}

export function build() {
  const { status } = spawnSync(node, [join(root, "scripts/setup.mjs")], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("dist/ cannot be built");
}

export const bare = {
  name: "bare front",
  start: () => new Running("bare front", node, [join(here, "front.mjs"), node, CHILD]).ready(),
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
      return await server.ready();
    },
    call: plain,
  };
}

/** Those that put HTTP in front of a stdio server, installed into bench/node_modules on demand. */
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
