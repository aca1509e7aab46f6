// The measured targets on stdio: how to start each one, and how to call a tool of a server through it.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const bench = join(dirname(fileURLToPath(import.meta.url)), "..");
const root = join(bench, "..");
const node = process.execPath;
const quiet = { stdio: ["ignore", 2, 2] };

const temp = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
process.once("exit", () => rmSync(temp, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));

const SERVERS = {
  everything: [join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
  fixture: [join(root, "test/fixture/child.mjs")],
};
const FORWARD = join(bench, "overhead/forward.mjs");
const entry = (server) => ({ command: node, args: SERVERS[server] });

function configFile(name, servers, more) {
  const file = join(temp, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: servers, ...more }));
  return file;
}

const both = { everything: entry("everything"), fixture: entry("fixture") };
/** Only the first server is used; the others count only by their number. */
const many = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`server-${i}`, entry("fixture")]));

function direct(name, ...before) {
  return {
    name,
    start: (server) => ({ command: node, args: [...before, ...SERVERS[server]] }),
    call: (_server, tool, args) => ({ name: tool, arguments: args }),
  };
}

/** `dist`: a built folder of MetaMCP. */
function metamcp(name, dist, surface = "meta") {
  const safe = name.replaceAll(/[^a-z0-9@-]/gi, "-");
  // Results of 1 MB must be forwarded and not replaced by a preview.
  const config = configFile(safe, both, { maxResultBytes: 1 << 30 });
  const env = { ...process.env, METAMCP_HOME: join(temp, `home-${safe}`) };
  const flags = surface === "meta" ? [] : ["--surface", surface];
  const start = (file) => ({
    command: node,
    args: [join(dist, "metamcp.js"), "--config", file, ...flags],
    env,
  });
  return {
    name,
    start: () => start(config),
    startWith: (count) => start(configFile(`${safe}-${count}`, many(count))),
    call: (server, tool, args) =>
      surface === "meta"
        ? { name: "mcp_call", arguments: { server, tool, args } }
        : { name: `${server}__${tool}`, arguments: args },
  };
}

/** Another commit, unpacked into a temporary folder and built with its own scripts. */
function ref(gitRef) {
  const folder = join(temp, "ref", gitRef.replaceAll("/", "-"));
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["archive", gitRef], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const lock = (where) => readFileSync(join(where, "package-lock.json"), "utf8");
  if (lock(folder) === lock(root)) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  else execFileSync("npm", ["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder, ...quiet });
  execFileSync(node, [join(folder, "scripts/build.mjs")], { cwd: folder, ...quiet });
  return metamcp(`metamcp@${gitRef}`, join(folder, "dist"));
}

function thisCheckout(skipped) {
  const source = existsSync(join(root, "src/cli/metamcp.ts"));
  const built = source && spawnSync(node, [join(root, "scripts/setup.mjs")], quiet).status === 0;
  const dist = join(root, "dist");
  if (built) return [metamcp("metamcp", dist), metamcp("metamcp, aggregate", dist, "aggregate")];
  skipped.push("metamcp: dist/metamcp.js cannot be built");
  return [];
}

/** The peers with a stdio client side that need no account and run offline. */
function peers(skipped) {
  skipped.push(
    "mcp-proxy, supergateway, mcp-hub: speak only HTTP or SSE to the client; a stdio figure does not exist",
    "metatool-ai/metamcp, Lunar MCPX: need Docker, Postgres or an account",
    "1MCP agent, mcp-funnel, ncp: not to be had from the registry",
  );
  const installed = spawnSync(
    "npm",
    ["install", "--ignore-scripts", "--loglevel=error", "--no-package-lock"],
    {
      cwd: bench,
      ...quiet,
    },
  );
  if (installed.status !== 0) {
    skipped.push("mcporter: cannot be installed");
    return [];
  }
  const keep = (server) => ({ ...entry(server), lifecycle: "keep-alive" });
  const config = configFile("mcporter", { everything: keep("everything"), fixture: keep("fixture") });
  const env = { ...process.env, HOME: join(temp, "mcporter-home") };
  mkdirSync(env.HOME, { recursive: true });
  const cli = join(bench, "node_modules/mcporter/dist/cli.js");
  return [
    {
      name: "mcporter",
      start: () => ({ command: node, args: [cli, "--config", config, "serve", "--stdio"], env }),
      call: (server, tool, args) => ({ name: `${server}__${tool}`, arguments: args }),
      stop: () => void spawnSync(node, [cli, "--config", config, "daemon", "stop"], { env, ...quiet }),
    },
  ];
}

/** Latency is compared with the first target, CPU with the second. */
export function targets({ refs, dists, withPeers }) {
  const skipped = [];
  const list = [
    direct("direct"),
    direct("forward", FORWARD, node),
    direct("forward, batched", FORWARD, "--batch", node),
    direct("forward, parsed", FORWARD, "--parse", node),
    ...thisCheckout(skipped),
    ...refs.map(ref),
    ...dists.map((dist) => metamcp(dist, resolve(dist))),
    ...(withPeers ? peers(skipped) : []),
  ];
  return { list, skipped };
}
