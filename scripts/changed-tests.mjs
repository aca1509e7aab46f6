// Chooses the tests for a change: those beside the source by vitest's graph of imports; those that start
// dist/metamcp.js, which no import shows, by folder. A folder of test/integration has the name of the folder
// of src/ that it tests; TESTS names the others.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ALL = "test/";
const TESTS = {
  "src/clients": ["test/integration/cli"],
  "src/gateway": ["test/integration/gateway", "test/integration/admin"],
  "src/library": ["test/e2e"],
  "src/pages": ["test/integration/authorization", "test/integration/server-logins", "test/browser"],
  "src/serving": ["test/integration/gateway", "test/integration/admin", "test/integration/access"],
  "src/session": ["test/integration/transport", "test/integration/surface", "test/conformance"],
  bench: ["test/integration/gateway/bench.test.ts", "test/integration/replica/kill-run.test.ts"],
  console: ["test/browser"],
  data: ["test/golden-retrieval", "test/integration/catalog", "test/integration/provision"],
  demo: ["test/integration/openapi"],
  deploy: ["test/integration/gateway/deploy.test.ts", "test/integration/observe/dashboard.test.ts"],
  docs: ["test/pins"],
  examples: ["test/e2e", "test/integration/middleware"],
};
const ALSO = { "src/sandbox": ["test/attack"], "src/catalog": ["test/golden-retrieval"] };

/** The folders and files of test/ for these changed paths. */
export function testsFor(paths, isFolder) {
  const chosen = new Set();
  for (const path of paths) for (const one of testsOf(path, isFolder)) chosen.add(one);
  return chosen.has(ALL) ? [ALL] : [...chosen].sort((a, b) => (a < b ? -1 : 1));
}

function testsOf(path, isFolder) {
  if (/\.test\.tsx?$/.test(path)) return path.startsWith("test/") ? [path] : [];
  const [top, room] = path.split("/");
  const place = top === "src" ? `${top}/${room}` : top;
  const same = `test/integration/${room}`;
  if (TESTS[place]) return TESTS[place];
  if (top === "src" && isFolder(same)) return [same, ...(ALSO[place] ?? [])];
  // What everything uses: engine, kernel, rpc, support modules, settings of the build.
  return ["src", "test", "scripts"].includes(top) || /^(package|vitest|tsconfig)/.test(path) ? [ALL] : [];
}

/** Paths changed since the branch left main, committed or not. */
export function changedPaths(root) {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  // Whoever commits to main itself has changed what origin does not have.
  const common = (branch) => git("merge-base", "HEAD", branch).stdout.trim();
  const base = common("origin/main") || common("main") || "HEAD";
  const changed =
    git("diff", "--name-only", base).stdout + git("ls-files", "-o", "--exclude-standard").stdout;
  return { base, paths: changed.split("\n").filter(Boolean) };
}

/** The arguments for vitest; undefined if no test is concerned. Prints what it chose. */
export function changedTests(root, vitest) {
  const { base, paths } = changedPaths(root);
  const list = ["list", "--filesOnly", `--changed=${base}`, "src", "console"];
  const beside = spawnSync(process.execPath, [vitest, ...list], { cwd: root, encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => /\.test\.tsx?$/.test(line));
  const chosen = [...beside, ...testsFor(paths, (folder) => existsSync(join(root, folder)))];
  process.stderr.write(`metamcp: ${paths.length} files changed since ${base.slice(0, 9)}. Tests:\n`);
  for (const one of chosen) process.stderr.write(`  ${one}\n`);
  return chosen.length > 0 ? ["--passWithNoTests", ...chosen] : undefined;
}
