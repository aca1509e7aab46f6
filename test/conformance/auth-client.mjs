/**
 * The client that the conformance suite runs for its login scenarios. It logs in with `metamcp auth` and
 * fetches the printed address in place of a browser. It then calls every tool through the gateway and logs in
 * again if a call asks for it. Usage: auth-client.mjs URL
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
/** Login attempts before the client gives up. */
const MAX_LOGINS = 3;

const folder = mkdtempSync(join(tmpdir(), "metamcp-conformance-"));
const config = join(folder, "mcp.json");
const env = { ...process.env, METAMCP_HOME: join(folder, "home") };
writeFileSync(config, JSON.stringify({ mcpServers: { suite: { type: "http", url, ...settings() } } }));

function settings() {
  if (scenario === "auth/pre-registration")
    return { oauth: { clientId: context.client_id, clientSecret: context.client_secret } };
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  const grant = "client_credentials";
  if (scenario === "auth/client-credentials-basic") return { oauth: { grant, clientId, clientSecret } };
  if (scenario === "auth/client-credentials-jwt") return { oauth: { grant, clientId, privateKey } };
  if (scenario === "auth/basic-cimd")
    return { oauth: { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" } };
  return {};
}

/** Returns true if the login worked. */
async function logIn() {
  const command = spawn(process.execPath, [METAMCP, "auth", "suite", "--no-browser", "--config", config], {
    env,
  });
  let output = "";
  let followed = false;
  command.stderr.on("data", (chunk) => {
    process.stderr.write(chunk);
    output += chunk;
    const address = /^ {2}(https?:\S+)\s/m.exec(output)?.[1];
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
/**
 * Repeats `act`, which returns true if a login is required, with a login in between. Returns false if a login
 * failed or there were too many.
 */
async function withLogin(act) {
  for (;;) {
    const loginRequired = await act();
    if (!loginRequired) return true;
    if (++logins > MAX_LOGINS || !(await logIn())) return false;
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
const listed = await withLogin(async () => (await listing()).server.reason?.startsWith("auth_required"));
const { tools = [] } = listed ? await listing() : {};
for (const { tool: name } of tools) {
  const callRequiresLogin = async () => {
    const { structuredContent } = await tool("mcp_call", { server: "suite", tool: name });
    return structuredContent?.error?.code === "auth_required";
  };
  await withLogin(callRequiresLogin);
}
gateway.stdin.end();
await exited;
rmSync(folder, { recursive: true, force: true });
