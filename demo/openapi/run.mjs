// `npm run demo:openapi`: starts a gateway with an `openapi: true` endpoint, generates types from its
// description, type-checks a client and runs it. Exits with 0 if all steps succeed.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";
import { typesOf } from "../../scripts/openapi-types.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const TOKEN = "an-admin-token-for-the-demo-0123456789";
const folder = mkdtempSync(join(tmpdir(), "metamcp-openapi-"));
const gateway = spawn(process.execPath, [join(root, "dist/metamcp.js"), "serve", "--port", "0"], {
  cwd: folder,
  env: { ...process.env, METAMCP_HOME: join(folder, "home"), METAMCP_ADMIN_TOKEN: TOKEN },
  stdio: ["ignore", "ignore", "pipe"],
});
const closed = new Promise((resolve) => gateway.once("close", resolve));
let stderr = "";
gateway.stderr.on("data", (chunk) => (stderr += chunk));

async function address() {
  for (;;) {
    const [url] = /^https?:\S+$/m.exec(stderr) ?? [];
    if (url) return url;
    if (gateway.exitCode !== null) throw new Error(`metamcp serve ended: ${stderr}`);
    await pause(50);
  }
}

async function ask(url, { body, ...init } = {}) {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...init.headers };
  const answer = await fetch(url, {
    ...init,
    headers,
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return await answer.json();
}

function run(what, command, args, env = {}) {
  const {
    status,
    stdout,
    stderr: errors,
  } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  process.stdout.write(stdout);
  if (status !== 0) throw new Error(`${what} failed: ${stdout}${errors}`);
}

try {
  const url = await address();
  const api = `${url}/api/v1`;
  const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  await ask(`${api}/mcp-servers`, { body: { name: "demo", command: process.execPath, args: [everything] } });
  await ask(`${api}/namespaces`, { body: { name: "demo", servers: [{ server: "demo" }] } });
  await ask(`${api}/endpoints`, { body: { name: "demo", namespaces: ["demo"], openapi: true } });
  const { key } = await ask(`${api}/api-keys`, { body: { name: "demo", endpoints: "all" } });
  const description = await ask(`${url}/metamcp/demo/api/openapi.json`, {
    headers: { authorization: `Bearer ${key}` },
  });

  mkdirSync(join(folder, "client"));
  cpSync(join(root, "demo/openapi/client.ts"), join(folder, "client/client.ts"));
  writeFileSync(join(folder, "client/api.d.ts"), typesOf(description));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom",
    "--types",
    "node",
  ];
  const modules = ["--module", "nodenext", "--moduleDetection", "force", "--allowImportingTsExtensions"];
  writeFileSync(join(folder, "client/package.json"), '{ "type": "module" }');
  run("the type check", process.execPath, [tsc, ...options, ...modules, join(folder, "client/client.ts")]);
  const { code } = transform(readFileSync(join(folder, "client/client.ts"), "utf8"), {
    transforms: ["typescript"],
  });
  writeFileSync(join(folder, "client/client.mjs"), code);
  const baseUrl = new URL(description.servers[0].url, url).href;
  run("the client", process.execPath, [join(folder, "client/client.mjs")], { BASE_URL: baseUrl, KEY: key });
} finally {
  gateway.kill("SIGTERM");
  await closed;
  rmSync(folder, { recursive: true, force: true });
}
