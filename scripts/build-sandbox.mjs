// Bundles the sandbox host, which runs untrusted code, into dist/sandbox/. The host sees only that folder, so
// it must contain everything it needs. Run directly, it builds only this.
import { copyFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Returns the paths of the bundled modules. */
export async function bundleSandbox() {
  const host = await rolldown({
    input: { host: join(root, "src/sandbox/host/main.ts") },
    platform: "node",
    resolve: { mainFields: ["module", "main"] },
  });
  const folder = join(root, "dist/sandbox");
  const { output } = await host.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
  });
  await host.close();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  copyFileSync(join(root, "node_modules/quickjs-wasi/quickjs.wasm"), join(folder, "quickjs.wasm"));
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleSandbox();
