// Counts the tokens of tool lists with a real tokenizer (o200k), over what models get: name, description and
// input schema of each tool, and the instructions. Prints the figures of the README for the servers of
// demo/mcp.json, then how far the estimate of `metamcp tools` is off for known tool lists. `--tools
// FILE.jsonl` adds lists, one tool with its `server` per line.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** As in src/kernel/tokens.ts. */
const BYTES_PER_TOKEN = 4.4;

const asSent = ({ name, description, inputSchema }) =>
  JSON.stringify({ name, description, input_schema: inputSchema });
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const percent = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

/** What a client gets from MetaMCP with the demo servers, asked over stdio. */
function served(surface) {
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  };
  const messages = [
    { id: 1, method: "initialize", params: initialize },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ];
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, "dist/metamcp.js"), "--config", join(root, "demo/mcp.json"), "--surface", surface],
    {
      cwd: root,
      encoding: "utf8",
      input: messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""),
    },
  );
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const of = (id) => answers.find((answer) => answer.id === id)?.result;
  return { instructions: of(1)?.instructions ?? "", tools: of(2)?.tools ?? [] };
}

function fromFolder() {
  const folder = join(root, "test/golden-retrieval/tools");
  return readdirSync(folder).map((file) => {
    const { server, tools } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return [server, tools];
  });
}

function fromLines(file) {
  const tools = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return [...new Set(tools.map(({ server }) => server))].map((server) => [
    server,
    tools.filter((tool) => tool.server === server),
  ]);
}

function measure([server, tools]) {
  const sent = tools.map(asSent);
  const counted = sum(sent.map((text) => countTokens(text)));
  const estimated = sum(sent.map((text) => Buffer.byteLength(text))) / BYTES_PER_TOKEN;
  return { server, tools: tools.length, counted, estimated, error: estimated / counted - 1 };
}

function report(title, lists) {
  const rows = lists.map(measure);
  const within = rows.filter(({ error }) => Math.abs(error) <= 0.1).length;
  const error = sum(rows.map((row) => row.estimated)) / sum(rows.map((row) => row.counted)) - 1;
  console.log(
    `\n${title}: the estimate is off by ${percent(error)} in the sum; ${within} of ${rows.length} servers are within 10 %`,
  );
  if (rows.length <= 30)
    for (const row of rows)
      console.log(
        `  ${row.server}: ${row.tools} tools, ${row.counted} tokens, estimate ${percent(row.error)}`,
      );
}

const short = served("meta");
const all = served("aggregate");
const cost = (tools) => sum(tools.map((tool) => countTokens(asSent(tool))));
const instructions = countTokens(short.instructions);
console.log(`${all.tools.length} tools of the demo servers: ${cost(all.tools)} tokens`);
console.log(
  `MetaMCP: ${cost(short.tools) + instructions} tokens (${short.tools.length} tools ${cost(short.tools)}, instructions ${instructions})`,
);
report("test/golden-retrieval/tools", fromFolder());
process.argv.forEach((word, at) => {
  if (word === "--tools") report(process.argv[at + 1], fromLines(process.argv[at + 1]));
});
