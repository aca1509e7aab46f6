// Stores the index of the examples in data/words in dist/data/, so that no process has to build it at its
// first search. Run directly, it builds only this.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function storeExamples() {
  const bundle = await rolldown({
    input: join(root, "src/catalog/search/load-examples.ts"),
    platform: "node",
  });
  // The module finds the `data` folder of the package from here, but no previously stored index.
  const file = join(root, ".cache/build/load-examples.mjs");
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  const { readExampleFiles, STORED_FILE } = await import(pathToFileURL(file).href);
  const out = join(root, "dist/data", STORED_FILE);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, await readExampleFiles());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await storeExamples();
