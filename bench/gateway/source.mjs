// Parts of `src/` to measure without a process around them, bundled as the product is.
import { mkdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { root } from "./serve.mjs";

/** All that these files below `src/` export. */
export async function load(...paths) {
  const folder = join(root, "node_modules", ".cache", "metamcp-bench-gateway", String(process.pid));
  mkdirSync(folder, { recursive: true });
  const nameOf = (path) => path.replaceAll(/[/.]/g, "-");
  const input = Object.fromEntries(paths.map((path) => [nameOf(path), join(root, "src", path)]));
  // Packages are found from there as well; one of them is not JavaScript.
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

/** CPU of this process in µs: on a busy machine time alone tells of the others. */
export function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
