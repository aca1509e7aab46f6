// `npm test`: prepares the clone, then runs vitest with the given arguments. METAMCP_NODE=22 or 24 runs the tests and the
// processes they start on that version of Node (from npm on Linux x64; elsewhere set it to the path of a node).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const requested = process.env.METAMCP_NODE;

await import("./setup.mjs");

const node =
  requested === undefined ? process.execPath : requested.includes("/") ? requested : installed(requested);
const { status } = spawnSync(
  node,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: "inherit",
    // Processes that start `node` or `npx` by name use the same version.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  },
);
process.exitCode = status ?? 1;

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
