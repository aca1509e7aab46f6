// Bundles src/ into dist/: a small entry file, and heavy parts as chunks that load on first use. --types also writes the type
// declarations of the library. --fresh empties dist/ first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
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

// A published package must not contain files of earlier builds.
if (fresh) rmSync(dist, { recursive: true, force: true });
const declared = process.argv.includes("--types") ? writeDeclarations() : 0;
const bundle = await rolldown({
  input: {
    metamcp: join(root, "src/cli/metamcp.ts"),
    index: join(root, "src/index.ts"),
    contract: join(root, "src/contract.ts"),
    // Runs in a thread of its own, so it needs a file with a fixed name.
    "yaml-thread": join(root, "src/gateway/document/yaml-thread.ts"),
  },
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
});
const layout = {
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunk/[name]-[hash].js",
  sourcemap: false,
};
const atStart = neededAtStart((await bundle.generate(layout)).output);
const { output } = await bundle.write({
  ...layout,
  codeSplitting: { groups: [{ name: "start", test: (id) => atStart.has(id) }] },
});
await bundle.close();
writeLicenses([
  ...output.flatMap(({ moduleIds = [] }) => moduleIds),
  ...(await bundleSandbox()),
  ...(await bundleConsole()),
]);
await storeExamples();
chmodSync(join(dist, "metamcp.js"), 0o755);
removeStale(new Set(output.map(({ fileName }) => fileName)));
process.exitCode = await declared;

/** The modules that serving loads before the first request. They go into one file, because each file costs as much time as parsing a hundred lines. */
function neededAtStart(chunks) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set();
  const visit = (chunk) => {
    if (!chunk || seen.has(chunk)) return;
    seen.add(chunk);
    for (const name of chunk.imports ?? []) visit(byName.get(name));
  };
  visit(chunks.find(({ facadeModuleId }) => facadeModuleId === join(root, "src/cli/run.ts")));
  return new Set([...seen].flatMap(({ moduleIds = [] }) => moduleIds));
}

function removeStale(written) {
  for (const name of readdirSync(join(dist, "chunk"))) {
    const path = join(dist, "chunk", name);
    if (!written.has(`chunk/${name}`) && Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path);
  }
}

/** Runs in parallel with the bundling, because it takes longer. Does not check types; `npm run check` does. */
async function writeDeclarations() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const tsc = spawn(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], {
    stdio: ["ignore", 2, 2],
  });
  const [status] = await once(tsc, "exit");
  if (status === 0) pruneTypes(join(dist, "types"), ["index.d.ts", "contract.d.ts"]);
  return status ?? 1;
}
