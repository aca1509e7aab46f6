// Makes a fresh clone ready: packages and dist/. Silent on stdout, which belongs to the protocol; does nothing when all is there.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const installed = join(root, "node_modules", ".package-lock.json");
const built = join(root, "dist", "metamcp.js");

const changed = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
const newest = (folder) =>
  Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map((entry) => changed(join(entry.parentPath, entry.name))),
  );

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

if (changed(installed) < changed(join(root, "package-lock.json"))) {
  process.stderr.write("metamcp: installing packages …\n");
  run("npm", ["ci", "--ignore-scripts", "--loglevel=error", "--no-audit", "--no-fund"]);
}
if (
  changed(built) <
  Math.max(newest(join(root, "src")), changed(join(root, "package.json")), changed(installed))
) {
  process.stderr.write("metamcp: building …\n");
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
}
