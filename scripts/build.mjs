// Bundles src/ into dist/: one small file to start, heavy parts as chunks that load when first needed. With --types also
// the declarations of the library; with --fresh dist/ is emptied first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleConsole } from "./build-console.mjs";
import { storeExamples } from "./build-examples.mjs";
import { bundleSandbox } from "./build-sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const fresh = process.argv.includes("--fresh");

/** A gateway that runs may still load chunks of the build it was started from. */
const KEEP_MS = 3_600_000;

// What is to be published holds nothing of earlier builds.
if (fresh) rmSync(dist, { recursive: true, force: true });
const declared = process.argv.includes("--types") ? declare() : 0;
const bundle = await rolldown({
  input: {
    metamcp: join(root, "src/cli/metamcp.ts"),
    index: join(root, "src/index.ts"),
    contract: join(root, "src/contract.ts"),
  },
  // libsql finds its binary beside itself; pg asks for pg-native only where somebody wants that.
  external: ["vitest", "libsql", "pg-native"],
  platform: "node",
  onLog(level, log, handle) {
    // Koa's deprecation notices make functions of texts of their own.
    if (log.code !== "EVAL" || !log.id?.includes("/depd/")) handle(level, log);
  },
  // Packages with an ESM build bundle better from that.
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
await bundleSandbox();
await bundleConsole();
await storeExamples();
chmodSync(join(dist, "metamcp.js"), 0o755);
removeStale(new Set(output.map(({ fileName }) => fileName)));
process.exitCode = await declared;

/** What serving loads before anything is asked: in one file, because each costs as much as reading a hundred lines. */
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

/** Beside the bundle, as it takes longer. Types are checked by `npm run check`, not here. */
async function declare() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const tsc = spawn(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], {
    stdio: ["ignore", 2, 2],
  });
  const [status] = await once(tsc, "exit");
  return status ?? 1;
}
