// Bundles src/ into dist/: one small file to start, heavy parts as chunks that load when first needed. With --types also
// the declarations of the library.
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleSandbox } from "./build-sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const types = process.argv.includes("--types");

/** A gateway that runs may still load chunks of the build it was started from. */
const KEEP_MS = 3_600_000;

const bundle = await rolldown({
  input: {
    metamcp: join(root, "src/cli/metamcp.ts"),
    index: join(root, "src/index.ts"),
    contract: join(root, "src/contract.ts"),
  },
  external: ["vitest"],
  platform: "node",
  // Packages with an ESM build bundle better from that.
  resolve: { mainFields: ["module", "main"] },
  transform: { define: { __VERSION__: JSON.stringify(version) } },
});
// What is to be published holds nothing of earlier builds.
if (types) rmSync(dist, { recursive: true, force: true });
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
chmodSync(join(dist, "metamcp.js"), 0o755);
removeStale(new Set(output.map(({ fileName }) => fileName)));
if (types) declare();

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

function removeStale(fresh) {
  for (const name of readdirSync(join(dist, "chunk"))) {
    const path = join(dist, "chunk", name);
    if (!fresh.has(`chunk/${name}`) && Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path);
  }
}

function declare() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], {
    stdio: ["ignore", 2, 2],
  });
  process.exitCode = status ?? 1;
}
