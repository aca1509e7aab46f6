// Bundles src/ into dist/: a small entry file, and heavy parts as chunks that load on first use. --types also
// writes the type declarations of the library. --fresh empties dist/ first and leaves out what only developers
// need: for packages and images.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleConsole } from "./build-console.mjs";
import { storeExamples } from "./build-examples.mjs";
import { bundleSandbox } from "./build-sandbox.mjs";
import { writeLicenses } from "./licenses.mjs";
import { pruneTypes } from "./prune-types.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const fresh = process.argv.includes("--fresh");

/** Old chunks are kept for this time, because a running gateway may still load chunks of its own build. */
const KEEP_MS = 3_600_000;

/** Parts of Node that take long to load and that serving does not need before the first request. */
const LATER = ["node:crypto", "node:fs/promises", "node:timers/promises"];

// A published package must not contain files of earlier builds.
if (fresh) rmSync(dist, { recursive: true, force: true });
const declared = process.argv.includes("--types") ? writeDeclarations() : 0;
const shared = {
  // libsql loads its binary relative to its own folder. pg loads pg-native only on request.
  external: ["vitest", "libsql", "pg-native"],
  platform: "node",
  onLog(level, log, handle) {
    // depd, a dependency of Koa, uses `eval` only with its own code.
    if (log.code !== "EVAL" || !log.id?.includes("/depd/")) handle(level, log);
  },
  // The ESM build of a package gives smaller bundles.
  resolve: { mainFields: ["module", "main"] },
  transform: { define: { __VERSION__: JSON.stringify(version) } },
};
const program = await bundleProgram();
const compiled = Promise.all([compileProgram(), compileGateway()]);
const library = await bundleLibrary();
const threads = [
  ...(await bundleThread("src/gateway/document/document-thread.ts", "document-thread.js")),
  ...(await bundleThread("src/child/openapi/compile-thread.ts", "openapi-thread.js")),
];
writeLicenses([
  ...[...program, ...library, ...threads].flatMap(({ moduleIds = [] }) => moduleIds),
  ...(await bundleSandbox()),
  ...(await bundleConsole({ samples: !fresh })),
]);
await storeExamples();
await compiled;
removeStale([...program, ...library].map(({ fileName }) => fileName));
process.exitCode = await declared;

/**
 * The commands, as CommonJS: it starts faster than ES modules, and `start.ts` can load it with stored code.
 * What serving loads before the first request is one file, because each file costs as much time as parsing a
 * hundred lines.
 */
async function bundleProgram() {
  const main = join(root, "src/cli/metamcp.ts");
  const bundle = await rolldown({
    ...shared,
    input: { program: main },
    checks: { ineffectiveDynamicImport: false },
  });
  const layout = {
    dir: dist,
    format: "cjs",
    entryFileNames: "chunk/program-[hash].js",
    chunkFileNames: "chunk/[name]-[hash].js",
  };
  const atStart = neededAtStart((await bundle.generate(layout)).output, [main, join(root, "src/cli/run.ts")]);
  const { output } = await bundle.write({
    ...layout,
    comments: false,
    codeSplitting: { groups: [{ name: "program", test: (id) => atStart.has(id) }] },
  });
  await bundle.close();
  const chunkOf = (id) => output.find(({ facadeModuleId }) => facadeModuleId === id);
  const { fileName, code } = chunkOf(main);
  writeFileSync(join(dist, fileName), ascii(loadedLater(code)));
  const gateway = chunkOf(join(root, "src/cli/serve.ts"));
  writeFileSync(join(dist, gateway.fileName), ascii(gateway.code));
  const start = await rolldown({
    ...shared,
    input: join(root, "src/cli/start.ts"),
    transform: {
      define: {
        __PROGRAM__: JSON.stringify(fileName),
        __GATEWAY__: JSON.stringify(gateway.fileName),
      },
    },
  });
  await start.write({ file: join(dist, "metamcp.js"), format: "cjs", comments: false });
  await start.close();
  chmodSync(join(dist, "metamcp.js"), 0o755);
  writeFileSync(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  return output;
}

function loadedLater(code) {
  return LATER.reduce((text, id) => {
    const name = id.replaceAll(/\W/g, "_");
    const load = `let ${name} = require("${id}");`;
    if (!text.includes(load)) throw new Error(`${id} is not in the program any more: remove it from LATER`);
    return text
      .replaceAll(`${name}.`, `${name}().`)
      .replace(load, `function ${name}() { return require("${id}"); }`);
  }, code);
}

/** The escape means the same in texts, templates and regular expressions. */
function ascii(code) {
  return code.replaceAll(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Serves one client, at whose end `start.ts` stores the compiled code for this Node. */
async function compileProgram() {
  const home = mkdtempSync(join(tmpdir(), "metamcp-build-"));
  const mcpServers = { local: { command: "node" }, remote: { url: "http://127.0.0.1/mcp" } };
  writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers }));
  const node = spawn(process.execPath, [join(dist, "metamcp.js"), "--config", join(home, "mcp.json")], {
    env: { ...process.env, METAMCP_HOME: home },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const clientInfo = { name: "build", version };
  const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const request = (id, method, params) =>
    node.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  request(1, "initialize", initialize);
  request(2, "tools/list", {});
  node.stdin.end();
  await once(node, "exit");
  rmSync(home, { recursive: true, force: true });
}

/** Serves over HTTP until it listens, for the code that only the gateway loads. */
async function compileGateway() {
  const home = mkdtempSync(join(tmpdir(), "metamcp-build-"));
  // Settings of whoever builds could name a store or a port that is in use.
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith("METAMCP_"));
  const node = spawn(process.execPath, [join(dist, "metamcp.js"), "serve", "--port", "0"], {
    cwd: home,
    env: { ...Object.fromEntries(env), METAMCP_HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(node, "exit");
  let printed = "";
  node.stderr.on("data", (text) => {
    printed += text;
    if (/^http/m.test(printed)) node.kill();
  });
  await exited;
  rmSync(home, { recursive: true, force: true });
}

/** Runs in a thread of its own. It shares no file with the program, whose files run the program. */
async function bundleThread(source, name) {
  const bundle = await rolldown({ ...shared, input: join(root, source) });
  const { output } = await bundle.write({
    file: join(dist, name),
    format: "cjs",
    comments: false,
    codeSplitting: false,
  });
  await bundle.close();
  return output;
}

/** The package for other programs, as ES modules. */
async function bundleLibrary() {
  const bundle = await rolldown({
    ...shared,
    input: { index: join(root, "src/index.ts"), contract: join(root, "src/contract.ts") },
  });
  const { output } = await bundle.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunk/[name]-[hash].mjs",
  });
  await bundle.close();
  return output;
}

/** The modules that `files` load statically. */
function neededAtStart(chunks, files) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set();
  const visit = (chunk) => {
    if (!chunk || seen.has(chunk)) return;
    seen.add(chunk);
    for (const name of chunk.imports ?? []) visit(byName.get(name));
  };
  for (const file of files) visit(chunks.find(({ facadeModuleId }) => facadeModuleId === file));
  return new Set([...seen].flatMap(({ moduleIds = [] }) => moduleIds));
}

function removeStale(written) {
  const stems = new Set(written.map((name) => basename(name, extname(name))));
  for (const name of readdirSync(join(dist, "chunk"))) {
    const path = join(dist, "chunk", name);
    const stem = name.endsWith(".compiled")
      ? name.slice(0, name.lastIndexOf("-"))
      : basename(name, extname(name));
    if (!stems.has(stem) && Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path);
  }
}

/**
 * Runs in parallel with the bundling, because it takes longer. Does not check types; `npm run check` does.
 */
async function writeDeclarations() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const tsc = spawn(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], {
    stdio: ["ignore", 2, 2],
  });
  const [status] = await once(tsc, "exit");
  if (status === 0) pruneTypes(join(dist, "types"), ["index.d.ts", "contract.d.ts"]);
  writeFileSync(join(dist, "types/package.json"), '{ "type": "module" }\n');
  return status ?? 1;
}
