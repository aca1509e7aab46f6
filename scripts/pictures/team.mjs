// A gateway that a team has used for a while: servers of demo-server.mjs, people, keys, policies, clients that
// call, fail, are refused and wait for approval. It ends with close().
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SERVERS } from "./demo-tools.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const PASSWORD = "correct horse battery";
const TOKEN = "an-admin-token-of-the-pictures-0123456789";
const DAY_MS = 86_400_000;

const PEOPLE = {
  ada: { role: "admin" },
  grace: { role: "editor", groups: ["leads"] },
  linus: { role: "member", groups: ["developers"] },
  barbara: { role: "member", groups: ["support"] },
  margaret: { role: "viewer", groups: ["developers"] },
};

const mail = (name) => `${name}@example.org`;

/** Who calls what, with weights. */
const CLIENTS = [
  {
    name: "claude-code",
    endpoint: "dev",
    who: "grace",
    weight: 9,
    calls: {
      "github:list_issues": 5,
      "github:get_pull_request": 4,
      "github:search_code": 3,
      "files:read_file": 4,
      "files:list_folder": 2,
      "postgres:query": 2,
      "files:delete_file": 0.4,
    },
  },
  {
    name: "cursor-vscode",
    endpoint: "dev",
    who: "linus",
    weight: 6,
    calls: {
      "github:create_issue": 3,
      "github:search_code": 3,
      "files:read_file": 2,
      "files:delete_file": 1,
      "sentry:list_issues": 1,
      "browser:open_page": 1,
    },
  },
  {
    name: "Visual Studio Code",
    endpoint: "dev",
    who: "margaret",
    weight: 2,
    calls: { "docs:search_docs": 3, "postgres:list_tables": 1, "github:list_issues": 1 },
  },
  {
    name: "support-bot",
    endpoint: "support",
    who: "barbara",
    weight: 5,
    calls: {
      "slack:post_message": 3,
      "slack:search_messages": 2,
      "docs:search_docs": 4,
      "billing:list_invoices": 2,
      "billing:refund": 0.5,
    },
  },
  {
    name: "langgraph",
    endpoint: "finance",
    who: "nightly report",
    weight: 4,
    calls: {
      "postgres:query": 5,
      "billing:list_invoices": 3,
      "postgres:drop_table": 0.3,
      "calendar:list_events": 1,
    },
  },
  { name: "mcp-inspector", endpoint: "handbook", weight: 1, calls: { "docs:search_docs": 1 } },
];

const ARGS = {
  "github:list_issues": { repo: "acme/shop", state: "open" },
  "github:get_pull_request": { repo: "acme/shop", number: 388 },
  "github:search_code": { query: "validateCart language:ts" },
  "github:create_issue": { repo: "acme/shop", title: "Cart is empty after login" },
  "files:read_file": { path: "notes/2026/plan.md" },
  "files:list_folder": { path: "notes" },
  "files:delete_file": { path: "notes/old.md" },
  "postgres:query": { sql: "select id, total from orders where total > 400 limit 20" },
  "postgres:list_tables": { schema: "public" },
  "postgres:drop_table": { table: "orders_2019", cascade: true },
  "slack:post_message": { channel: "support", text: "Your refund is on its way." },
  "slack:search_messages": { query: "refund" },
  "docs:search_docs": { query: "refund policy" },
  "billing:list_invoices": { customer: "C-1042" },
  "billing:refund": { invoice: "in_118", amount: 12_900 },
  "browser:open_page": { url: "https://example.org/status" },
  "calendar:list_events": { from: "2026-11-01", to: "2026-11-30" },
};

export async function usedTeam({ seconds = 90 } = {}) {
  const home = mkdtempSync(join(tmpdir(), "metamcp-pictures-"));
  const gateway = spawn(process.execPath, [join(root, "dist/metamcp.js"), "serve", "--port", "0", "--pin"], {
    cwd: join(root, "scripts/pictures"),
    env: { ...process.env, METAMCP_HOME: home, METAMCP_ADMIN_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => gateway.once("close", resolve));
  const close = async () => {
    gateway.kill("SIGTERM");
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const url = await printedUrl(gateway);
    const api = client(url);
    const keys = await makeObjects(api);
    await use(url, keys, seconds);
    return { url, api, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function printedUrl(gateway) {
  let text = "";
  return new Promise((resolve, reject) => {
    gateway.stderr.on("data", (chunk) => {
      text += chunk;
      const [url] = /^https?:\/\/\S+$/m.exec(text) ?? [];
      if (url) resolve(url);
    });
    gateway.once("close", () => reject(new Error(text)));
  });
}

function client(url) {
  return async (method, path, body) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return text && JSON.parse(text);
  };
}

/** Servers, namespaces, endpoints, people. Returns the key of each client. */
async function makeObjects(api) {
  const serverOf = (name) => ({ command: "node", args: ["demo-server.mjs", name] });
  for (const name of Object.keys(SERVERS)) await api("POST", "/mcp-servers", { name, ...serverOf(name) });
  await api("POST", "/mcp-servers", {
    name: "jira",
    url: "http://127.0.0.1:9/mcp",
    description: "Tickets of the old shop.",
  });
  const namespace = (name, servers, more = {}) =>
    api("POST", "/namespaces", { name, servers: servers.map((server) => ({ server })), ...more });
  await namespace("dev", ["github", "files", "postgres", "browser", "docs", "sentry", "jira"], {
    description: "For everybody who writes code.",
    middleware: [{ use: "rate-limit", requests: 600, per: "1m" }],
    tools: [{ server: "github", tool: "delete_repository", disabled: true }],
  });
  await namespace("support", ["slack", "docs", "billing"], { description: "For the people at the phone." });
  await namespace("finance", ["postgres", "billing", "calendar"]);
  await namespace("handbook", ["docs"]);
  for (const [name, more] of Object.entries(PEOPLE)) {
    const { invitation } = await api("POST", "/users", { email: mail(name), ...more });
    await fetch(`${new URL(invitation.url).origin}/api/v1/invitations/${invitation.url.split("/").at(-1)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password: PASSWORD }),
    });
  }
  const endpoint = (name, more) =>
    api("POST", "/endpoints", { name, surface: "aggregate", namespaces: [name], ...more });
  await endpoint("dev", {
    description: "All tools of the developers.",
    middleware: [
      {
        use: "policy",
        default: "allow",
        rules: [
          { effect: "deny", tools: ["files:delete_*"], who: { groups: ["developers"] } },
          {
            effect: "approve",
            tools: ["github:merge_*", "postgres:drop_*"],
            by: { groups: ["leads"] },
            withinMs: "2h",
          },
        ],
      },
    ],
  });
  await endpoint("support", {
    access: { allow: { groups: ["support"] } },
    middleware: [
      {
        use: "policy",
        default: "allow",
        rules: [{ effect: "approve", tools: ["billing:refund"], by: { groups: ["leads"] } }],
      },
      { use: "redact", detect: ["secrets", "email"] },
    ],
  });
  await endpoint("finance", {
    surface: "meta",
    access: { oauth: false },
    middleware: [{ use: "policy", default: "allow", rules: [{ effect: "deny", tiers: ["destructive"] }] }],
  });
  await endpoint("handbook", { access: { public: true } });
  const keys = new Map();
  for (const { name, endpoint: at, who } of CLIENTS) {
    if (!who) continue;
    const owner = PEOPLE[who] ? { owner: mail(who), name: `${name} of ${who}` } : { name: who };
    const expiresAt = new Date(Date.now() + 90 * DAY_MS).toISOString();
    keys.set(name, (await api("POST", "/api-keys", { ...owner, endpoints: [at], expiresAt })).key);
  }
  for (const { uuid } of (await api("GET", "/mcp-servers")).items)
    await api("POST", `/mcp-servers/${uuid}/connect`).catch(() => {});
  return keys;
}

/** Lets all clients call for some seconds, and leaves two calls waiting for approval. */
async function use(url, keys, seconds) {
  const sessions = await Promise.all(
    CLIENTS.map(async (one) => {
      const mcp = new Client({ name: one.name, version: "2.1.0" });
      const key = keys.get(one.name);
      const requestInit = { headers: key ? { "x-api-key": key } : {} };
      const at = new URL(`${url}/metamcp/${one.endpoint}/mcp`);
      await mcp.connect(new StreamableHTTPClientTransport(at, { requestInit }));
      const { tools } = await mcp.listTools();
      return { ...one, mcp: { client: mcp, meta: tools.some(({ name }) => name === "mcp_call") } };
    }),
  );
  const call = (mcp, id, timeout = 30_000) => {
    const [server, tool] = id.split(":");
    const args = ARGS[id] ?? {};
    const params = mcp.meta
      ? { name: "mcp_call", arguments: { server, tool, args } }
      : { name: `${server}__${tool}`, arguments: args };
    return mcp.client.callTool(params, undefined, { timeout }).catch(() => {});
  };
  const end = Date.now() + seconds * 1000;
  await Promise.all(
    sessions.map(async ({ mcp, calls, weight, endpoint }) => {
      while (Date.now() < end) {
        const id = chosen(calls);
        // Calls that wait for approval are left to wait.
        if (endpoint === "support" && id === "billing:refund") continue;
        void call(mcp, id);
        await sleep((900 / weight) * (0.5 + Math.random()));
      }
    }),
  );
  const bot = sessions.find(({ endpoint }) => endpoint === "support");
  void call(bot.mcp, "billing:refund", DAY_MS);
  const code = sessions.find(({ name }) => name === "claude-code");
  void call(code.mcp, "postgres:drop_table", DAY_MS);
  await sleep(6_000);
}

function chosen(weights) {
  let at = Math.random() * Object.values(weights).reduce((sum, one) => sum + one, 0);
  for (const [id, weight] of Object.entries(weights)) {
    at -= weight;
    if (at < 0) return id;
  }
  return Object.keys(weights)[0];
}
