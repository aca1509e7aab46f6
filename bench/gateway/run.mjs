// Measures a gateway, compared with a bare front and the personal HTTP mode of the same build. Prints figures
// and asserts nothing.
// Usage: run.mjs [--quick] [--only GROUP]… [--dist FOLDER]… [--peers] [--markdown]
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../overhead/http/servers.mjs";
import { reachPostgres } from "./postgres.mjs";
import { table } from "./row.mjs";

/** In this order. Each is a module whose `measure` returns rows. */
const GROUPS = [
  "calls",
  "keys",
  "layers",
  "memory",
  "lists",
  "views",
  "sharing",
  "start",
  "statements",
  "usage",
  "overview",
];

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: GROUPS },
    dist: { type: "string", multiple: true, default: [] },
    peers: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
  },
});
const unknown = flags.only.filter((name) => !GROUPS.includes(name));
if (unknown.length > 0) throw new Error(`--only ${unknown[0]}: there are ${GROUPS.join(", ")}`);

build();
const bench = {
  peers: flags.peers,
  dists: flags.dist.map((folder) => resolve(folder)),
  /** Chooses a number of calls, rounds or objects: the usual one, or a minimal one with --quick. */
  of: (usual, quick) => (flags.quick ? quick : usual),
  postgres: await reachPostgres(),
};
const before = loadavg()[0];
const since = performance.now();
const rows = [];
for (const name of GROUPS.filter((group) => flags.only.includes(group))) {
  process.stderr.write(`${name} …\n`);
  try {
    const { measure } = await import(`./${name}.mjs`);
    const found = await measure(bench);
    rows.push(...(flags.quick ? found.map((row) => ({ ...row, verdict: "" })) : found));
  } catch (error) {
    rows.push({ what: name, measured: `failed: ${error.message}`, budget: "", verdict: "FAILED" });
    process.exitCode = 1;
  }
}
console.log(table(rows, flags.markdown));
const seconds = Math.round((performance.now() - since) / 1_000);
console.log(
  `\nNode ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), load ${before.toFixed(1)} before and ${loadavg()[0].toFixed(1)} after, ${seconds} s${flags.quick ? "; --quick: too few calls for figures to mean anything" : ""}`,
);
// Also ends processes that a failed group left behind.
process.exit();
