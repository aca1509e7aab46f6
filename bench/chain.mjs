// Compares a chain of 20 echo steps with twenty direct calls of the server and twenty calls of run_tool, one
// after the other. The candidates take turns, so that other load on the machine affects all alike. Prints
// figures and asserts nothing.
// Usage: chain.mjs [ROUNDS]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./overhead/median.mjs";
import { shuffled } from "./overhead/shuffled.mjs";
import { Wire } from "./overhead/wire.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const server = { command: process.execPath, args: [everything, "stdio"] };
const STEPS = 20;
const rounds = Number(process.argv[2] ?? 300);

const temp = mkdtempSync(join(tmpdir(), "metamcp-chain-"));
process.once("exit", () => rmSync(temp, { recursive: true, force: true }));
const config = join(temp, "mcp.json");
writeFileSync(config, JSON.stringify({ mcpServers: { everything: server } }));

const echo = { message: "sixteen bytes ok" };
const step = { tool_id: "everything:echo", args: echo };
const direct = new Wire(server);
const ours = new Wire({
  command: process.execPath,
  args: [join(root, "dist/metamcp.js"), "--config", config, "--surface", "metatools"],
  env: { ...process.env, METAMCP_HOME: join(temp, "home") },
});

const call = (wire, name, args) => ({ wire, params: JSON.stringify({ name, arguments: args }) });
const CANDIDATES = {
  "20 direct calls": { ...call(direct, "echo", echo), times: STEPS },
  "1 chain of 20": { ...call(ours, "run_chain", { steps: Array(STEPS).fill(step) }), times: 1 },
  "20 × run_tool": { ...call(ours, "run_tool", step), times: STEPS },
};

async function once({ wire, params, times }) {
  const since = performance.now();
  for (let n = 0; n < times; n++) await wire.request("tools/call", JSON.parse(params));
  return performance.now() - since;
}

for (const wire of [direct, ours]) await wire.initialize();
const figures = new Map(Object.keys(CANDIDATES).map((name) => [name, []]));
for (let round = -20; round < rounds; round++) {
  for (const [name, candidate] of shuffled(Object.entries(CANDIDATES))) {
    const ms = await once(candidate);
    if (round >= 0) figures.get(name).push(ms);
  }
}
await Promise.all([direct.close(), ours.close()]);

const base = median(figures.get("20 direct calls"));
console.log("| what | median | ÷ twenty direct calls (budget of the chain: 1.5) |\n|---|---|---|");
for (const [name, values] of figures)
  console.log(`| ${name} | ${median(values).toFixed(2)} ms | ${(median(values) / base).toFixed(2)} |`);
