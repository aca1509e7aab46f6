/**
 * What the conformance suite runs as the client under test: MetaMCP with the suite's server as its one child, and a
 * client of raw lines that does what the scenario wants done. Usage: client.mjs URL
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

const folder = mkdtempSync(join(tmpdir(), "metamcp-conformance-"));
const config = join(folder, "mcp.json");
writeFileSync(config, JSON.stringify({ mcpServers: { suite: { type: "http", url, prefix: "none" } } }));
const gateway = spawn(process.execPath, [METAMCP, "--config", config, "--surface", "aggregate"], {
  env: { ...process.env, METAMCP_HOME: join(folder, "home") },
  stdio: ["pipe", "pipe", "inherit"],
});
const exited = new Promise((resolve) => gateway.once("exit", resolve));

/** Fills in what the schema says; the person would see it filled in. */
function defaults({ properties = {} } = {}) {
  const filled = Object.entries(properties).filter(([, { default: value }]) => value !== undefined);
  return Object.fromEntries(filled.map(([name, { default: value }]) => [name, value]));
}

const waiting = new Map();
let lastId = 0;
const send = (message) => gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: gateway.stdout }).on("line", (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(answer);
  else if (method === "elicitation/create")
    send({ id, result: { action: "accept", content: defaults(params.requestedSchema) } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: `not here: ${method}` } });
});

function request(method, params = {}) {
  return new Promise((resolve) => {
    waiting.set(++lastId, resolve);
    send({ id: lastId, method, params });
  });
}
const call = (name, args = {}) => request("tools/call", { name, arguments: args });

const ARGUMENTS = { add_numbers: { a: 5, b: 3 }, lookup_user: { id: "ada", profile: {} } };
/** A value that its type allows. */
const some = ({ type }) => ({ number: 1, integer: 1, object: {}, array: [], null: null })[type] ?? "eu";
function argumentsFor({ name, inputSchema }) {
  const { properties = {}, required = [] } = inputSchema;
  return ARGUMENTS[name] ?? Object.fromEntries(required.map((key) => [key, some(properties[key] ?? {})]));
}

/** A server that is late comes into the list when it comes. Some have nothing to offer. */
async function listed(attempts = 5) {
  const { result } = await request("tools/list");
  if (result.tools.length > 0 || attempts === 0) return result.tools;
  await new Promise((resolve) => setTimeout(resolve, 100));
  return await listed(attempts - 1);
}

async function everyTool() {
  const tools = await listed();
  await Promise.all(tools.map((tool) => call(tool.name, argumentsFor(tool))));
}

const SCENARIOS = {
  async "http-standard-headers"() {
    await everyTool();
    const { result } = await request("resources/list");
    for (const { uri } of result.resources) await request("resources/read", { uri });
    const { result: listed } = await request("prompts/list");
    for (const { name } of listed.prompts) await request("prompts/get", { name });
  },
  async "http-custom-headers"() {
    // What does not fit its schema never leaves MetaMCP, and null fits none of these: not given means the same.
    const given = (args) => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
    for (const { name, arguments: args } of context.toolCalls) await call(name, given(args));
  },
  async "http-invalid-tool-headers"() {
    await everyTool();
    // Nor is it called by who insists.
    await call("invalid_space_in_name", { value: "eu" });
  },
  async "json-schema-2020-12-preservation"() {
    const [focal, echo] = await listed();
    await call(echo.name, { schema: focal.inputSchema });
  },
};

const capabilities = { elicitation: { form: { applyDefaults: true } } };
await request("initialize", {
  protocolVersion: "2025-11-25",
  capabilities,
  clientInfo: { name: "conformance-client", version: "1.0.0" },
});
send({ method: "notifications/initialized" });
await (SCENARIOS[scenario] ?? everyTool)();
gateway.stdin.end();
await exited;
rmSync(folder, { recursive: true, force: true });
