// Measures three replicas behind a round-robin balancer. Prints one table: what, measured, budget, verdict.
// Usage: run.mjs [--only ROW]… [--minutes 10] [--sessions 500] [--rate 60] [--from DIST] [--markdown]
// --from: the folder dist/ of an older version, for the row `update`, which is left out without it.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { reachPostgres } from "../gateway/postgres.mjs";
import { table } from "../gateway/row.mjs";
import { build } from "../overhead/http/servers.mjs";

/** In this order. Each is a module whose `measure` returns rows. */
const ROWS = [
  "kills",
  "rolling",
  "cost",
  "statements",
  "idle",
  "first-list",
  "limits",
  "placement",
  "update",
];

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: ROWS },
    minutes: { type: "string", default: "10" },
    sessions: { type: "string", default: "500" },
    rate: { type: "string", default: "60" },
    from: { type: "string" },
    markdown: { type: "boolean", default: false },
  },
});
const unknown = flags.only.filter((name) => !ROWS.includes(name));
if (unknown.length > 0) throw new Error(`--only ${unknown[0]}: there are ${ROWS.join(", ")}`);
const postgres = await reachPostgres();
if (!postgres.there) throw new Error(postgres.why);

build();
const [minutes, sessions, rate] = [flags.minutes, flags.sessions, flags.rate].map(Number);
const bench = { minutes, sessions, rate, from: flags.from, problems: [] };
const before = loadavg()[0];
const since = performance.now();
const rows = [];
for (const name of ROWS.filter((one) => flags.only.includes(one))) {
  process.stderr.write(`${name} …\n`);
  try {
    const { measure } = await import(`./${name}.mjs`);
    rows.push(...(await measure(bench)));
  } catch (error) {
    rows.push({ what: name, measured: `failed: ${error.message}`, budget: "", verdict: "FAILED" });
    process.exitCode = 1;
  }
}
console.log(table(rows, flags.markdown));
for (const problem of bench.problems.slice(0, 20)) console.log(problem);
const seconds = Math.round((performance.now() - since) / 1_000);
console.log(
  `\nNode ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), load ${before.toFixed(1)} before and ${loadavg()[0].toFixed(1)} after, ${seconds} s`,
);
// Also ends processes that a failed row left behind.
process.exit();
