// Records the metrics of a real gateway under mixed load, for drawing and checking the dashboard: three
// servers, three endpoints, layers, failures, and a server that crashes sometimes. Writes
// test/data/metrics/recorded.json. usage: node scripts/dashboard/record.mjs [SECONDS] (after node
// scripts/build.mjs)
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const SECONDS = Number(process.argv[2] ?? 240);
const STEP_MS = 5_000;
const TOKEN = "an-admin-token-for-recording-0123456789";
const folder = mkdtempSync(join(tmpdir(), "metamcp-record-"));
const packaged = (name) => join(root, "node_modules/@modelcontextprotocol", name, "dist/index.js");
const node = (path, ...args) => ({ command: process.execPath, args: [path, ...args] });

const gateway = spawn(process.execPath, [join(root, "dist/metamcp.js"), "serve", "--port", "0"], {
  cwd: folder,
  env: { ...process.env, METAMCP_HOME: join(folder, "home"), METAMCP_ADMIN_TOKEN: TOKEN },
  stdio: ["ignore", "ignore", "pipe"],
});
process.once("exit", () => gateway.kill("SIGKILL"));
let stderr = "";
gateway.stderr.on("data", (chunk) => (stderr += chunk));
while (!/^http\S+$/m.test(stderr)) await pause(50);
const [url] = /^http\S+$/m.exec(stderr);

async function api(method, path, body) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

await api("POST", "/mcp-servers", { name: "files", ...node(packaged("server-filesystem"), folder) });
await api("POST", "/mcp-servers", { name: "memory", ...node(packaged("server-memory")) });
await api("POST", "/mcp-servers", {
  name: "shop",
  ...node(join(root, "test/fixture/child.mjs")),
  timeoutMs: 2_000,
});
const servers = ["files", "memory", "shop"].map((server) => ({ server }));
const reads = { readOnlyHint: true };
const tools = [{ server: "shop", tool: "echo", name: "price", annotations: reads }];
await api("POST", "/namespaces", { name: "all", servers, tools });
const middleware = [
  {
    use: "policy",
    default: "allow",
    rules: [{ effect: "deny", tools: ["files:write_file"], args: { path: { glob: "*secret*" } } }],
  },
  { use: "rate-limit", requests: 60, per: "10s", by: "session" },
  { use: "cache", ttlMs: 5_000, tools: ["shop:echo"] },
];
for (const [name, surface] of [
  ["support", "meta"],
  ["coding", "aggregate"],
  ["agents", "metatools"],
])
  await api("POST", "/endpoints", { name, namespaces: ["all"], surface, middleware });
const { key } = await api("POST", "/api-keys", { name: "recording", endpoints: "all" });

async function session(endpoint) {
  const client = new Client({ name: "recorder", version: "1.0.0" });
  const requestInit = { headers: { "x-api-key": key } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/metamcp/${endpoint}/mcp`), { requestInit }),
  );
  await client.listTools();
  return client;
}

const call = (client, name, args) => client.callTool({ name, arguments: args }).catch(() => {});
/** Picks a random choice by weight. */
function pickWeighted(choices) {
  let left = Math.random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  return choices[0][1];
}
/** Clients of each endpoint first search for tools, then call them. */
const SEARCHES = {
  support: (client) => call(client, "mcp_discover", { query: "what does an item cost" }),
  coding: () => {},
  agents: (client) => call(client, "search_tools", { query: "knowledge graph" }),
};
const CALLS = {
  support: [
    [
      6,
      (client) =>
        call(client, "mcp_call", {
          server: "shop",
          tool: "price",
          args: { message: `item ${Math.floor(Math.random() * 40)}` },
        }),
    ],
    [
      4,
      (client) =>
        call(client, "mcp_call", { server: "files", tool: "list_directory", args: { path: folder } }),
    ],
    [
      2,
      (client) =>
        call(client, "mcp_call", { server: "shop", tool: "sleep", args: { ms: Math.random() * 400 } }),
    ],
    [0.2, (client) => call(client, "mcp_call", { server: "shop", tool: "refund", args: {} })],
  ],
  coding: [
    [6, (client) => call(client, "files__list_directory", { path: folder })],
    [4, (client) => call(client, "files__write_file", { path: join(folder, "notes.txt"), content: "x" })],
    [4, (client) => call(client, "files__read_text_file", { path: join(folder, "notes.txt") })],
    [0.3, (client) => call(client, "files__read_text_file", { path: join(folder, "missing.txt") })],
    [0.3, (client) => call(client, "files__write_file", { path: join(folder, "secret.txt"), content: "x" })],
    [1, (client) => call(client, "shop__add", { a: 1, b: 2 })],
  ],
  agents: [
    [5, (client) => call(client, "run_tool", { tool_id: "memory:read_graph", args: {} })],
    [
      3,
      (client) => call(client, "run_tool", { tool_id: "shop:count_safe", args: { key: `${Math.random()}` } }),
    ],
    [
      0.15,
      (client) =>
        call(client, "run_tool", {
          tool_id: "shop:count_safe",
          args: { key: `${Math.random()}`, crashes: 1 },
        }),
    ],
    [0.3, (client) => call(client, "run_tool", { tool_id: "shop:is_error", args: { message: "sold out" } })],
  ],
};

let running = true;
/** Opens a session, makes calls for some time, closes the session, and starts again. */
async function worker(endpoint, n) {
  while (running) {
    const client = await session(endpoint);
    for (let searches = 0; searches < 2; searches++) await SEARCHES[endpoint](client);
    const until = Date.now() + 20_000 + n * 9_000;
    while (running && Date.now() < until) {
      await pickWeighted(CALLS[endpoint])(client);
      // The load is highest in the middle of the recording.
      const share = (Date.now() - startedAt) / (SECONDS * 1_000);
      await pause((60 + 500 * (1 - Math.sin(Math.PI * share))) * (0.5 + Math.random()));
    }
    await client.transport.terminateSession();
    await client.close();
  }
}

const startedAt = Date.now();
const workers = Object.keys(CALLS).flatMap((endpoint) => [0, 1, 2].map((n) => worker(endpoint, n)));
const people = (async () => {
  for (let n = 0; running; n++) {
    await pause(11_000);
    await api("POST", "/login", { email: "nobody@example.org", password: "not the password" }).catch(
      () => {},
    );
    await api("PATCH", "/namespaces/all", { description: `Tools of the team (${n}).` });
  }
})();

const times = [];
const series = new Map();
while (Date.now() - startedAt < SECONDS * 1_000) {
  await pause(STEP_MS);
  const text = await (await fetch(`${url}/metrics`)).text();
  for (const [, name, labels = "", value] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)) {
    const key = `${name}{${labels}}`;
    const one = series.get(key) ?? {
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]),
      ),
      values: times.map(() => null),
    };
    one.values[times.length] = Number(Number(value).toPrecision(6));
    series.set(key, one);
  }
  times.push(Math.round((Date.now() - startedAt) / 100) / 10);
  process.stderr.write(".");
}
running = false;
await Promise.all([...workers, people]);
gateway.kill("SIGTERM");
await new Promise((resolve) => gateway.once("close", resolve));
rmSync(folder, { recursive: true, force: true });

const out = join(root, "test/data/metrics");
mkdirSync(out, { recursive: true });
const rows = [...series.values()].map((one) =>
  JSON.stringify({ ...one, values: times.map((_, at) => one.values[at] ?? null) }),
);
writeFileSync(
  join(out, "recorded.json"),
  `{"times":${JSON.stringify(times)},"series":[\n${rows.join(",\n")}\n]}\n`,
);
process.stderr.write(`\n${times.length} times, ${series.size} series\n`);
