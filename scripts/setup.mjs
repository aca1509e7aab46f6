// Prepares a fresh clone: installs packages and builds dist/ with type declarations, because other projects
// may install this folder. Does nothing if everything is up to date. Writes nothing to stdout, which belongs
// to the protocol.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const installed = join(root, "node_modules", ".package-lock.json");
const built = ["metamcp.js", "console/index.html", "types/index.d.ts"].map((name) =>
  join(root, "dist", name),
);

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

// Installing through a symbolic link would empty the shared folder behind it.
const linked = lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
if (!linked && changed(installed) < changed(join(root, "package-lock.json"))) {
  process.stderr.write("metamcp: installing packages …\n");
  // The flags of an outer `npm install --global .` reach this command as variables and must not count here.
  const here = ["--global=false", "--location=project", "--include=dev", "--dry-run=false"];
  run("npm", ["ci", ...here, "--ignore-scripts", "--loglevel=error", "--no-audit", "--no-fund"]);
}
if (
  Math.min(...built.map(changed)) <
  Math.max(
    newest(join(root, "src")),
    newest(join(root, "console")),
    changed(join(root, "package.json")),
    changed(installed),
  )
) {
  process.stderr.write("metamcp: building …\n");
  run(process.execPath, [join(root, "scripts", "build.mjs"), "--types"]);
}
