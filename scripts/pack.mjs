// Runs around `npm pack` and `npm publish`. `begin` builds dist/ from nothing, checks the package, and
// replaces package.json by the one for users: without scripts and devDependencies, which work only in a
// clone. `end` puts the original back. If npm was killed in between, `git restore package.json` does.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const manifest = join(root, "package.json");
const original = join(root, ".cache/package.json");

/** The text of package.json for users. */
export function publishedManifest(text) {
  const kept = { ...JSON.parse(text), scripts: undefined, devDependencies: undefined };
  return `${JSON.stringify(kept, undefined, 2)}\n`;
}

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

async function begin() {
  await import("./setup.mjs");
  run(join(root, "scripts/build.mjs"), "--types", "--fresh");
  run(join(root, "node_modules/publint/src/cli.js"));
  const text = readFileSync(manifest, "utf8");
  mkdirSync(dirname(original), { recursive: true });
  writeFileSync(original, text);
  writeFileSync(manifest, publishedManifest(text));
}

if (process.argv[2] === "begin") await begin();
if (process.argv[2] === "end") renameSync(original, manifest);
