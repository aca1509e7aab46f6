// Loads modules of `src/` into this process, bundled like the product.
import { mkdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { root } from "./serve.mjs";

/** Returns all exports of these files in `src/`. */
export async function load(...paths) {
  const folder = join(root, "node_modules", ".cache", "metamcp-bench-gateway", String(process.pid));
  mkdirSync(folder, { recursive: true });
  const nameOf = (path) => path.replaceAll(/[/.]/g, "-");
  const input = Object.fromEntries(paths.map((path) => [nameOf(path), join(root, "src", path)]));
  // Packages can be resolved from this folder too, and one of them is native.
  const external = (id) => !id.startsWith(".") && !isAbsolute(id);
  const bundle = await rolldown({ input, platform: "node", external });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await bundle.close();
  const loading = paths.map((path) => import(pathToFileURL(join(folder, `${nameOf(path)}.mjs`)).href));
  return Object.assign({}, ...(await Promise.all(loading)));
}

/** CPU of this process in µs. Elapsed time would include other load on the machine. */
export function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
