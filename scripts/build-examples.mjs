// Prepares the examples of data/words for the first question of a process, in dist/data/: reading them anew costs each
// process a tenth of a second of processor. Run by itself it builds nothing but that.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function prepareExamples() {
  const bundle = await rolldown({ input: join(root, "src/catalog/search/examples.ts"), platform: "node" });
  // A folder from which the package's own `data` is found, and nothing that was prepared before.
  const file = join(root, ".cache/build/examples.mjs");
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  const { loadExamples, PREPARED_FILE } = await import(pathToFileURL(file).href);
  const out = join(root, "dist/data", PREPARED_FILE);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, JSON.stringify((await loadExamples()).prepared()));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepareExamples();
