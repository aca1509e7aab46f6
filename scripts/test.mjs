// `npm test`: prepares the clone, then runs vitest with the given arguments. --changed runs only the tests
// for what has changed since the branch left main; --times prints the files that took the most processor time.
// METAMCP_FULL=1 runs long tests in full length.
// METAMCP_NODE=22 or 24 runs the tests and the processes they start on that version of Node (from npm on
// Linux x64; elsewhere set it to the path of a node).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { changedTests } from "./changed-tests.mjs";
import { printTimes } from "./test-times.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const requested = process.env.METAMCP_NODE;

await import("./setup.mjs");

const node =
  requested === undefined ? process.execPath : requested.includes("/") ? requested : installed(requested);
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const report = join(root, "node_modules/.cache/test-times.jsonl");
const given = process.argv.slice(2);
const times = given.includes("--times");
const chosen = given.includes("--changed") ? changedTests(root, vitest) : [];
const args = given.filter((one) => one !== "--changed" && one !== "--times");
if (times) {
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
}

process.exitCode = chosen === undefined ? 0 : run([...args, ...chosen]);
if (times && existsSync(report)) printTimes(report, root);

function run(options) {
  const { status } = spawnSync(node, [vitest, "run", ...options], {
    cwd: root,
    stdio: "inherit",
    // Processes that start `node` or `npx` by name use the same version.
    env: {
      ...process.env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      ...(times && { METAMCP_TEST_TIMES: report }),
    },
  });
  return status ?? 1;
}

function installed(version) {
  const folder = join(root, "test/node");
  const path = join(folder, `node_modules/node-${version}/bin/node`);
  if (!existsSync(path)) {
    process.stderr.write(`metamcp: installing Node ${version} for the tests …\n`);
    spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  if (existsSync(path)) return path;
  process.stderr.write(
    `metamcp: there is no Node ${version} for the tests: give 22, 24, or the path of a node\n`,
  );
  process.exit(1);
}
