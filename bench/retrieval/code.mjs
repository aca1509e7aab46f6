// Bundles and loads the search from src/, so that the bench measures the current source without a build of dist/.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

export async function loadCode() {
  const folder = join(root, ".cache", "metamcp-bench");
  mkdirSync(folder, { recursive: true });
  const bundle = await rolldown({
    input: {
      search: join(root, "src/catalog/search/search.ts"),
      settings: join(root, "src/catalog/search/settings.ts"),
      "everyday-words": join(root, "src/catalog/search/everyday-words.ts"),
      "stored-examples": join(root, "src/catalog/search/stored-examples.ts"),
      "word-table": join(root, "src/catalog/search/word-table.ts"),
    },
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
  const parts = await Promise.all(
    ["search", "settings", "everyday-words", "stored-examples", "word-table"].map(load),
  );
  return Object.assign({}, ...parts);
}
