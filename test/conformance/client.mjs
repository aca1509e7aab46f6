/**
 * The client that the conformance suite tests: MetaMCP with the suite's server as its only child, and a
 * client that sends raw lines and performs the steps of the scenario. Usage: client.mjs URL
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

/** Fills in the defaults of the schema, as a user interface would. */
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
/** A value of the given type. */
const sampleOf = ({ type }) => ({ number: 1, integer: 1, object: {}, array: [], null: null })[type] ?? "eu";
function argumentsFor({ name, inputSchema }) {
  const { properties = {}, required = [] } = inputSchema;
  return ARGUMENTS[name] ?? Object.fromEntries(required.map((key) => [key, sampleOf(properties[key] ?? {})]));
}

/**
 * Lists the tools. A slow server appears in the list later, so an empty list is requested again. Some servers
 * have no tools.
 */
async function listed(attempts = 5) {
  const { result } = await request("tools/list");
  if (result.tools.length > 0 || attempts === 0) return result.tools;
  await new Promise((resolve) => setTimeout(resolve, 100));
  return await listed(attempts - 1);
}

async function callEveryTool() {
  const tools = await listed();
  await Promise.all(tools.map((tool) => call(tool.name, argumentsFor(tool))));
}

const SCENARIOS = {
  async "http-standard-headers"() {
    await callEveryTool();
    const { result } = await request("resources/list");
    for (const { uri } of result.resources) await request("resources/read", { uri });
    const { result: listed } = await request("prompts/list");
    for (const { name } of listed.prompts) await request("prompts/get", { name });
  },
  async "http-custom-headers"() {
    // MetaMCP checks arguments against the schema, and null is not valid for any of these tools. Leaving the
    // argument out means the same.
    const withoutNull = (args) =>
      Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
    for (const { name, arguments: args } of context.toolCalls) await call(name, withoutNull(args));
  },
  async "http-invalid-tool-headers"() {
    await callEveryTool();
    // The tool is hidden because of its invalid header; a direct call must not reach the server either.
    await call("invalid_space_in_name", { value: "eu" });
  },
  async "sse-retry"() {
    // The suite takes every GET for the reconnection, even the one that opens the stream of the server. That
    // one uses its own socket, so on a busy machine it may arrive after a call, which the suite then answers
    // on it. With that answer the stream is open, and only a reconnection can answer the second call. The
    // suite measures the last GET.
    await callEveryTool();
    await callEveryTool();
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
await (SCENARIOS[scenario] ?? callEveryTool)();
gateway.stdin.end();
await exited;
rmSync(folder, { recursive: true, force: true });
