// Bundles and loads the search from src/, so that the bench measures the current source without a build of
// dist/.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const MODULES = [
  "actions",
  "asked-actions",
  "everyday-words",
  "network",
  "search",
  "settings",
  "stored-examples",
  "word-table",
  "words",
];

export async function loadCode() {
  const folder = join(root, ".cache", "metamcp-bench");
  mkdirSync(folder, { recursive: true });
  const bundle = await rolldown({
    input: Object.fromEntries(MODULES.map((name) => [name, join(root, "src/catalog/search", `${name}.ts`)])),
    platform: "node",
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name].mjs",
  });
  await bundle.close();
  const load = async (name) => await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  const parts = await Promise.all(MODULES.map(load));
  return Object.assign({}, ...parts);
}
