// Measures what an HTTP API as a server costs with the whole API of GitHub: processor time and memory of the
// first call, for which the document is read and its tools are listed, and of the first search after it. npm run bench:openapi [-- --file DOCUMENT]
// Prints medians; asserts nothing. The document comes from a package that is installed here on demand.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const bench = join(here, "..");
const program = join(bench, "../dist/metamcp.js");
const GITHUB = "node_modules/@octokit/openapi/generated/api.github.com.json";
const RUNS = 3;
const TICKS_PER_S = 100;

const { values } = parseArgs({ options: { file: { type: "string" } } });
const bytes = readFileSync(values.file ?? githubDocument());
const server = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json").end(request.url === "/openapi" ? bytes : "{}");
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${server.address().port}`;
const none = await measured({});
const runs = [];
for (let n = 0; n < RUNS; n++)
  runs.push(await measured({ api: { openapi: `${origin}/openapi`, baseUrl: origin } }));
server.close();

const median = (key) => runs.map((run) => run[key]).toSorted((a, b) => a - b)[RUNS >> 1];
const mb = (kb) => `${Math.round(kb / 1024)} MB`;
console.log(`| what | ${RUNS} runs, median | without the API |\n|---|---|---|`);
console.log(`| document, tools | ${mb(bytes.length / 1024)}, ${runs[0].tools} | |`);
console.log(`| CPU of the first call, with the list | ${median("callMs")} ms | |`);
console.log(`| most memory during it, above that before it | ${mb(median("peakKb"))} | |`);
console.log(`| CPU of the first search | ${median("searchMs")} ms | ${none.searchMs} ms |`);
console.log(`| memory 10 s later, above that before both | ${mb(median("restKb"))} | ${mb(none.restKb)} |`);
console.log(`| tools in the context of the client | ${runs[0].listed} | ${none.listed} |`);

function githubDocument() {
  const file = join(bench, GITHUB);
  if (!existsSync(file))
    spawnSync("npm", ["install", "--ignore-scripts", "--no-audit"], { cwd: bench, stdio: "inherit" });
  return file;
}

async function measured(mcpServers) {
  const home = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
  writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers }));
  const env = { ...process.env, METAMCP_HOME: home, METAMCP_CONFIG: join(home, "mcp.json") };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "b", version: "1" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const { result: list } = await ask("tools/list", {});
  const before = { cpu: cpuMs(child.pid), kb: memoryKb(child.pid, "VmRSS") };
  const call = { server: "api", tool: "meta_get", args: {} };
  if (Object.keys(mcpServers).length > 0) await ask("tools/call", { name: "mcp_call", arguments: call });
  const listed = cpuMs(child.pid);
  const after = { callMs: listed - before.cpu, peakKb: memoryKb(child.pid, "VmHWM") - before.kb };
  await ask("tools/call", { name: "mcp_discover", arguments: { query: "create an issue" } });
  const searchMs = cpuMs(child.pid) - listed;
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const restKb = memoryKb(child.pid, "VmRSS") - before.kb;
  child.stdin.end();
  await once(child, "exit");
  const schema = join(home, "cache/api/schema.json");
  const tools = existsSync(schema) ? JSON.parse(readFileSync(schema, "utf8")).entries[0].tools.length : 0;
  rmSync(home, { recursive: true, force: true });
  return { ...after, searchMs, restKb, tools, listed: list.tools.length };
}

/** User and system time of all threads, from /proc. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_S;
}

function memoryKb(pid, name) {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}
