// Measures MetaMCP on stdio, compared with a direct connection, a bare forwarder, its peers and other
// commits. Prints figures and asserts nothing.
// Usage: run.mjs [--peers] [--ref GITREF]… [--dist FOLDER]… [--quick] [--json]
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { byServers, bySize, GROWTH } from "./growth.mjs";
import { cold, large, memory, small, start } from "./measure.mjs";
import { median } from "./median.mjs";
import { targets } from "./targets.mjs";

const { values: flags } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    ref: { type: "string", multiple: true, default: [] },
    dist: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

/** Key, description, budget, unit, and the target that ratios refer to. */
const ROWS = [
  ["latency", "stdio call, p50 latency, 1 in flight, cores awake", "≤ 1.9 × direct", "µs", "direct"],
  ["latency asleep", "the same on an idle machine, where cores fall asleep", "", "µs", "direct"],
  ["cpu 1", "CPU per call, 1 in flight", "", "µs", "forward"],
  ["cpu 32", "CPU per call, 32 in flight", "≤ 100 µs, aim at 50", "µs", "forward"],
  ["cold 300", "the same, the first 300 calls of a fresh process", "", "µs", "forward"],
  ["cold 3000", "the same, the first 3,000 calls of a fresh process", "", "µs", "forward"],
  ["64 KB 1", "CPU per call, 64 KB result, 1 in flight", "≤ 3 × forward", "µs", "forward"],
  ["64 KB 32", "CPU per call, 64 KB result, 32 in flight", "≤ 3 × forward", "µs", "forward"],
  ["1 MB 1", "CPU per call, 1 MB result, 1 in flight", "≤ 3 × forward", "µs", "forward"],
  ["1 MB 32", "CPU per call, 1 MB result, 32 in flight", "≤ 3 × forward", "µs", "forward"],
  ["start", "start to `initialize` answered, 50 servers", "≤ 2 × node -e 0", "ms", "node -e 0"],
  ["rss", "memory idle after `initialize`", "≤ 60 MB", "MB"],
  ["rss listed", "memory idle after `tools/list`", "≤ 60 MB", "MB"],
  ["list bytes", "`tools/list`", "≤ 2,200 B", "B"],
];

const log = (text) => process.stderr.write(`${text}\n`);
const figures = {};
const { list, skipped } = targets({ refs: flags.ref, dists: flags.dist, withPeers: flags.peers });
const measured = list.filter((target) => target.name !== "direct");
const tools = {
  scale: flags.quick ? 0.25 : 1,
  problem: (text) => {
    if (!skipped.includes(text)) skipped.push(text);
  },
  report: (row, name, samples) => {
    figures[row] ??= {};
    figures[row][name] = { median: median(samples), min: Math.min(...samples), max: Math.max(...samples) };
  },
};

try {
  log(`measuring ${list.map(({ name }) => name).join(" | ")}`);
  log("start …");
  await start(measured, tools);
  log("memory …");
  await memory(measured, tools);
  log("small calls …");
  await small(list, tools);
  log("first calls …");
  await cold(measured, tools);
  log("results of 64 KB …");
  await large(measured, tools, { bytes: 65_536, label: "64 KB", calls: 2_000 });
  log("results of 1 MB …");
  await large(measured, tools, { bytes: 1_048_576, label: "1 MB", calls: 320 });
  log("growth …");
  const ours = list.find(({ name }) => name === "metamcp");
  if (ours) {
    await byServers(ours, tools);
    await bySize([list[1], ours], tools);
  }
} finally {
  for (const target of list) target.stop?.();
}

const round = (value) => (value < 100 ? value.toPrecision(2) : String(Math.round(value)));

function cell(row, name, unit, base) {
  const figure = figures[row]?.[name];
  if (!figure) return "–";
  const reference = figures[row][base];
  const ratio = reference && base !== name ? ` (${(figure.median / reference.median).toFixed(2)} ×)` : "";
  return `${round(figure.median)} ${unit}${ratio}`;
}

const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${loadavg()[0].toFixed(1)}`;
if (flags.json) {
  console.log(JSON.stringify({ machine, figures, skipped }, null, 2));
} else {
  const names = [...list.map(({ name }) => name), "node -e 0"];
  console.log(`${machine}${flags.quick ? "; quick, so rough" : ""}\n`);
  console.log(`| what | budget | ${names.join(" | ")} |`);
  console.log(`|---|---|${names.map(() => "---|").join("")}`);
  for (const [row, what, budget, unit, base] of ROWS)
    console.log(`| ${what} | ${budget} | ${names.map((name) => cell(row, name, unit, base)).join(" | ")} |`);
  console.log(`\n| servers configured | ${GROWTH.servers.join(" | ")} |`);
  console.log(`|---|${GROWTH.servers.map(() => "---|").join("")}`);
  for (const [row, what, unit] of [
    ["start by servers", "start to `initialize` answered", "ms"],
    ["cpu by servers", "CPU per call, 32 in flight", "µs"],
  ])
    console.log(`| ${what} | ${GROWTH.servers.map((count) => cell(row, count, unit, "1")).join(" | ")} |`);
  console.log(`\n| CPU per call by size of the result, 32 in flight | ${GROWTH.sizes.join(" | ")} |`);
  console.log(`|---|${GROWTH.sizes.map(() => "---|").join("")}`);
  for (const name of ["forward", "metamcp"])
    console.log(
      `| ${name} | ${GROWTH.sizes.map((size) => cell(`cpu by size ${size}`, name, "µs", "forward")).join(" | ")} |`,
    );
  for (const text of skipped) console.log(`\nleft out: ${text}`);
}
