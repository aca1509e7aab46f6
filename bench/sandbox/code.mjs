/** Bundles and loads parts of this checkout for the benchmarks of sandboxes. */
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { bundleSandbox } from "../../scripts/build-sandbox.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const ENTRY = "\0entry";
const PARTS = [
  ["src/kernel/log.ts", "silentLog"],
  ["src/kernel/signal.ts", "CallSignal"],
  ["src/engine/system-clock.ts", "systemClock"],
  ["test/attack/abuse.ts", "ABUSES"],
  ["src/sandbox/executor.ts", "LIMITS"],
  ["src/sandbox/process.ts", "createProcessExecutor"],
  ["src/sandbox/wasm.ts", "createWasmExecutor"],
];

/** The bundle is in dist/, because the executor finds the host there. */
export async function load() {
  await bundleSandbox();
  return await loadParts(PARTS);
}

/** Each part is a file and the name that it exports. */
export async function loadParts(parts) {
  const source = parts
    .map(([file, name]) => `export { ${name} } from ${JSON.stringify(join(root, file))};`)
    .join("\n");
  const bundle = await rolldown({
    input: ENTRY,
    platform: "node",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? source : null),
      },
    ],
  });
  const folder = mkdtempSync(join(root, "dist", "bench-"));
  const file = join(folder, "entry.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  const module = await import(pathToFileURL(file).href);
  rmSync(folder, { recursive: true });
  return module;
}
