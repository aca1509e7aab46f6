/**
 * What the conformance suite runs as the client that logs in: `metamcp auth` with a browser that follows the printed
 * address, then every tool through the gateway, and another login where a call asks for one. Usage: auth-client.mjs URL
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const METAMCP = fileURLToPath(new URL("../../dist/metamcp.js", import.meta.url));
const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
/** A person gives up at some point. */
const MOST_LOGINS = 3;

const folder = mkdtempSync(join(tmpdir(), "metamcp-conformance-"));
const config = join(folder, "mcp.json");
const env = { ...process.env, METAMCP_HOME: join(folder, "home") };
writeFileSync(config, JSON.stringify({ mcpServers: { suite: { type: "http", url, ...settings() } } }));

function settings() {
  if (scenario === "auth/pre-registration")
    return { oauth: { clientId: context.client_id, clientSecret: context.client_secret } };
  if (scenario === "auth/basic-cimd")
    return { oauth: { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" } };
  return {};
}

/** True: it worked. */
async function logIn() {
  const command = spawn(process.execPath, [METAMCP, "auth", "suite", "--no-browser", "--config", config], {
    env,
  });
  let said = "";
  let followed = false;
  command.stderr.on("data", (chunk) => {
    process.stderr.write(chunk);
    said += chunk;
    const address = /^ {2}(https?:\S+)\s/m.exec(said)?.[1];
    if (!address || followed) return;
    followed = true;
    void fetch(address).catch(() => {});
  });
  return (await new Promise((resolve) => command.once("close", resolve))) === 0;
}

const gateway = spawn(process.execPath, [METAMCP, "--config", config], {
  env,
  stdio: ["pipe", "pipe", "inherit"],
});
const exited = new Promise((resolve) => gateway.once("exit", resolve));
const waiting = new Map();
let lastId = 0;
const send = (message) => gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
createInterface({ input: gateway.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  waiting.get(id)?.(result);
});

function request(method, params) {
  return new Promise((resolve) => {
    waiting.set(++lastId, resolve);
    send({ id: lastId, method, params });
  });
}
const tool = (name, args) => request("tools/call", { name, arguments: args });

let logins = 0;
/** True: it worked, perhaps after a login. */
async function withLogin(act) {
  for (;;) {
    const refused = await act();
    if (!refused) return true;
    if (++logins > MOST_LOGINS || !(await logIn())) return false;
  }
}

async function listing() {
  const { content } = await tool("mcp_discover", { server: "suite" });
  return JSON.parse(content[0].text);
}

await request("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "conformance-client", version: "1.0.0" },
});
send({ method: "notifications/initialized" });
const known = await withLogin(async () => (await listing()).server.reason?.startsWith("auth_required"));
const { tools = [] } = known ? await listing() : {};
for (const { tool: name } of tools) {
  const wantsLogin = async () => {
    const { structuredContent } = await tool("mcp_call", { server: "suite", tool: name });
    return structuredContent?.error?.code === "auth_required";
  };
  await withLogin(wantsLogin);
}
gateway.stdin.end();
await exited;
rmSync(folder, { recursive: true, force: true });
