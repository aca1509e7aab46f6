/**
 * Config values of a server never appear in the output of MetaMCP, independent of their names and of where
 * the server leaks them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { discover } from "../../support/meta.ts";
import { type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** Not all of the names look like secrets. One value has several lines. */
const ENV = {
  GITHUB_PAT: "canary-pat-11",
  MYSQL_PASS: "canary/pass 22",
  PLAIN: "canary_plain_33",
  PEM: "-----BEGIN-----\ncanary-line-44\ncanary-line-55\n-----END-----",
};
const HEADERS = { Authorization: "Bearer canary-header-66", "X-Team": "canary-team-77" };
const CANARIES = [
  "canary-pat-11",
  "canary/pass 22",
  "canary_plain_33",
  "canary-line-44",
  "canary-line-55",
  "canary-header-66",
  "canary-team-77",
];

/** A server that leaks its environment in a different place for each mode. */
const LEAKY_SERVER = `
const { GITHUB_PAT, MYSQL_PASS, PLAIN, PEM } = process.env;
const all = [GITHUB_PAT, MYSQL_PASS, PLAIN, PEM].join(" and ");
const [mode] = process.argv.slice(2);
const answer = (id, more) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...more }) + "\\n");
if (mode === "stderr") console.error("starting with " + all);
if (mode === "stdout") console.log("starting with " + all);
if (mode === "exit") { console.error("cannot log in with " + all); process.exit(3); }
let text = "";
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let end; (end = text.indexOf("\\n")) >= 0; text = text.slice(end + 1)) {
    const { id, method } = JSON.parse(text.slice(0, end));
    if (method === "initialize" && mode === "handshake") answer(id, { error: { code: -32000, message: "refused: " + all } });
    else if (method === "initialize") answer(id, { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
    else if (method === "tools/list" && mode === "list") answer(id, { error: { code: -32000, message: "no list: " + all } });
    else if (method === "tools/list") answer(id, { result: { tools: [{ name: "die", inputSchema: { type: "object" } }] } });
    else if (method === "tools/call") { console.error("dying of " + all); process.exit(4); }
    else if (id !== undefined) answer(id, { result: {} });
  }
});
process.stdin.on("end", () => process.exit());
`;

const MODES = ["stderr", "stdout", "exit", "handshake", "list"] as const;

/** An HTTP server that repeats the received headers and address in its errors. */
async function parrot(): Promise<string> {
  const server = createServer((request, response) => {
    const said = `bad ${request.headers.authorization} ${String(request.headers["x-team"])} ${request.url}`;
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: said } }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function writeLeakyConfig(folder: Temp): Promise<void> {
  const script = folder.write("spill.mjs", LEAKY_SERVER);
  const local = MODES.map((mode) => [mode, { command: process.execPath, args: [script, mode], env: ENV }]);
  const remote = { url: `${await parrot()}?key=canary-team-77`, headers: HEADERS };
  folder.writeConfig({ ...Object.fromEntries(local), remote });
}

function expectNone(text: string, where: string): void {
  for (const canary of CANARIES) expect(text, `${canary} in ${where}`).not.toContain(canary);
}

test("no config value of a server appears in the log, in a reason or in an error", async () => {
  const folder = temp();
  await writeLeakyConfig(folder);
  const client = gateway(folder, { flags: ["--log-level", "debug"] });
  await client.initialize();
  const answers: string[] = [];
  for (const server of [...MODES, "remote"]) {
    answers.push(JSON.stringify(await client.mcpCall(server, "die")));
    answers.push(JSON.stringify(await client.tool("mcp_discover", { server })));
  }
  answers.push(JSON.stringify(await discover(client)));
  await until(() => client.stderr.includes("starting with"));
  await client.close();
  expectNone(answers.join("\n"), "what the client was told");
  expectNone(client.stderr, "the log");
  expect(client.stderr).toContain("starting with [secret] and [secret] and [secret] and");
  expect(answers.join("\n")).toContain("cannot log in with [secret]");
});

test("no command prints a config value of a server", async () => {
  const folder = temp();
  await writeLeakyConfig(folder);
  mkdirSync(join(folder.folder, ".cursor"));
  writeFileSync(
    join(folder.folder, ".cursor/mcp.json"),
    JSON.stringify({
      mcpServers: {
        c: { command: "node", args: ["x"], env: ENV },
        d: { url: "https://d.example", headers: HEADERS },
      },
    }),
  );
  const env = { ...folder.env, HOME: folder.folder, METAMCP_CONFIG: folder.config };
  const envWithoutConfig = Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== "METAMCP_CONFIG"),
  );
  const run = async (...args: string[]): Promise<void> => {
    const at = { ...folder, env: args[0] === "allow" ? envWithoutConfig : env };
    const { out, err } = await metamcp(at, args);
    expectNone(out + err, args.join(" "));
  };
  await Promise.all([
    run("doctor"),
    run("doctor", "--json", "--log-level", "debug"),
    run("list"),
    run("list", "--json"),
    run("tools"),
    run("call", "exit", "die"),
    run("search", "die"),
    run("allow"),
    run("allow", "--json"),
    run("import", "--dry-run"),
  ]);
  await run("import", "--yes", "--json");
  await run("init", "cursor", "--yes");
  await run("init", "--undo", "--yes");
});
