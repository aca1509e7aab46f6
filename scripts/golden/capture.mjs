// Captures the tool lists of the servers in test/golden-retrieval/servers.json and in the servers.json of its
// folders: installs each into a temporary folder, asks it over stdio, writes tools/<name>.json. Some of
// `unknown` and `strange` only start with a file or folder of that name in place (an OAuth client, a vault).
// Needs the npm registry; starts no install script. usage: node scripts/golden/capture.mjs [name…]
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "test", "golden-retrieval");
const wanted = new Set(process.argv.slice(2));
const DEADLINE_MS = 60_000;

function install(server) {
  const folder = mkdtempSync(join(tmpdir(), "metamcp-capture-"));
  writeFileSync(join(folder, "package.json"), "{}");
  const result = spawnSync(
    "npm",
    [
      "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `${server.package}@${server.version}`,
    ],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
  );
  if (result.status !== 0) throw new Error(result.stderr.slice(0, 300));
  const root = join(folder, "node_modules", server.package);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const bin = typeof manifest.bin === "string" ? manifest.bin : Object.values(manifest.bin)[0];
  return { folder, manifest, entry: join(root, bin) };
}

async function listTools(server, { folder, entry }) {
  const child = spawn(process.execPath, [entry, ...(server.args ?? [])], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...server.env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
    } catch {}
  });
  let id = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      const mine = ++id;
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), DEADLINE_MS);
      child.once("exit", (code) => reject(new Error(`exited with ${code}`)));
      waiting.set(mine, (message) => {
        clearTimeout(timer);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      });
      send({ id: mine, method, params });
    });
  try {
    await ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "capture", version: "1" },
    });
    send({ method: "notifications/initialized" });
    const tools = [];
    let cursor;
    do {
      const page = await ask("tools/list", cursor ? { cursor } : {});
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return tools;
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill("SIGKILL")) await gone;
  }
}

const listed = ["", "unseen", "more", "unknown", "strange", "sixth", "seventh", "eighth", "tenth"].flatMap(
  (folder) =>
    JSON.parse(readFileSync(join(here, folder, "servers.json"), "utf8")).map((server) => ({
      folder,
      server,
    })),
);
for (const { folder, server } of listed) {
  if (wanted.size > 0 && !wanted.has(server.name)) continue;
  mkdirSync(join(here, folder, "tools"), { recursive: true });
  let installed;
  try {
    installed = install(server);
    const all = await listTools(server, installed);
    const { version, license } = installed.manifest;
    const tools = all.map(({ name, title, description, inputSchema, annotations }) => ({
      name,
      title,
      description,
      annotations,
      inputSchema,
    }));
    const captured = { server: server.name, package: server.package, version, license, tools };
    writeFileSync(join(here, folder, "tools", `${server.name}.json`), `${JSON.stringify(captured)}\n`);
    console.log(`${server.name}: ${tools.length} tools, ${version}, ${license}`);
  } catch (error) {
    console.log(`${server.name}: failed, ${error.message}`);
  } finally {
    if (installed) rmSync(installed.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
