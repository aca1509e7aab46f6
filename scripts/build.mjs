// Bundles src/ into dist/: one small file to start, heavy parts as chunks that load when first needed; then the types.
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(dist, { recursive: true, force: true });
const bundle = await rolldown({
  input: { metamcp: join(root, "src/cli/metamcp.ts"), index: join(root, "src/index.ts") },
  platform: "node",
  // Packages with an ESM build bundle better from that.
  resolve: { mainFields: ["module", "main"] },
  transform: { define: { __VERSION__: JSON.stringify(version) } },
});
await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunk/[name]-[hash].js",
  sourcemap: false,
});
await bundle.close();
chmodSync(join(dist, "metamcp.js"), 0o755);

const types = spawnSync(
  process.execPath,
  [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "tsconfig.build.json")],
  { stdio: ["ignore", 2, 2] },
);
process.exit(types.status ?? 1);
