// Bundles and loads the signs from src/, so that the bench measures the current source without a build.
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const MODULES = ["text-signs", "context"];

export async function loadCode() {
  const folder = join(root, ".cache", "metamcp-first-sight");
  mkdirSync(folder, { recursive: true });
  const bundle = await rolldown({
    input: Object.fromEntries(MODULES.map((name) => [name, join(root, "src/catalog/signs", `${name}.ts`)])),
    platform: "node",
  });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name].mjs",
  });
  await bundle.close();
  const parts = await Promise.all(
    MODULES.map(async (name) => await import(pathToFileURL(join(folder, `${name}.mjs`)).href)),
  );
  return Object.assign({}, ...parts);
}
