// Ranks all queries of all sets with the current source, and prints metrics and cost. usage: npm run
// bench:retrieval -- --data DIR [--split dev] [--half 0|1] [--table FILE] [--out DIR] [--union] [--golden]
// [--no-cost]
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadCode } from "./code.mjs";
import { measureCost } from "./cost.mjs";
import { fill, halfOf, readSets } from "./data.mjs";
import { GOLDEN, readGolden } from "./golden.mjs";
import { calibrationError, goldRanks, METRICS, mean, measure, serverRecall } from "./metrics.mjs";

const DEPTH = 50;
const { values: options } = parseArgs({
  options: {
    data: { type: "string" },
    split: { type: "string", default: "dev" },
    half: { type: "string" },
    table: { type: "string" },
    out: { type: "string" },
    union: { type: "boolean", default: false },
    golden: { type: "boolean", default: false },
    "no-cost": { type: "boolean", default: false },
  },
});
if (!options.data && !options.golden) {
  console.error(
    "usage: npm run bench:retrieval -- --data DIR [--split dev] [--half 0|1] [--table FILE] [--out DIR] [--union] [--golden] [--no-cost]",
  );
  process.exit(2);
}

const code = await loadCode();
const sets = selectedSets();
/** Word vectors to use in place of those that ship; see scripts/vectors/build.mjs --half. */
const wordTable = options.table && new code.WordTable(readFileSync(options.table));
const parts = wordTable ? { loadWords: async () => wordTable } : {};

/** The sets of the data folder, or our own questions. */
function selectedSets() {
  if (options.golden) return readGolden(GOLDEN);
  const list = readSets(options.data, options.split).map((set) => halfOf(set, options.half));
  return options.union ? united(list) : list;
}

/** Each set gets the tools of all sets. */
function united(list) {
  const seen = new Set();
  const tools = list.flatMap(({ tools: own }) => own.filter(({ id }) => !seen.has(id) && seen.add(id)));
  return list.map((set) => ({ ...set, tools }));
}

async function rankSet(set, settings) {
  const search = code.createSearch(settings, parts);
  const idOf = fill(search, set.tools);
  const results = [];
  for (const query of set.queries) {
    const hits = await search.search(query.text, { limit: DEPTH });
    const ranking = hits.map(idOf);
    results.push({ query, ranking, ranks: goldRanks(query, ranking), confidence: hits[0]?.confidence ?? 0 });
  }
  return results;
}

function report(set, results) {
  const serverOf = new Map(set.tools.map((tool) => [tool.id, tool.server ?? ""]));
  const rows = results.map(({ ranks }) => measure(ranks));
  const values = METRICS.map((_, m) => mean(rows.map((row) => row[m])));
  const servers = mean(
    results.map(({ query, ranking }) => serverRecall(query, ranking, (id) => serverOf.get(id))),
  );
  const predictions = results.map(({ confidence, ranks }) => ({
    confidence,
    right: Math.min(...ranks) === 0,
  }));
  return [...values, servers, calibrationError(predictions)];
}

const percent = (value) => (100 * value).toFixed(1).padStart(8);
console.log(["set".padEnd(18), ...[...METRICS, "server@5", "ECE"].map((name) => name.padStart(8))].join(""));
const table = [];
for (const set of sets) {
  const results = await rankSet(set, code.DEFAULT_SETTINGS);
  if (options.out) {
    mkdirSync(options.out, { recursive: true });
    const text = results.map(({ query, ranking }) => JSON.stringify({ id: query.id, ranking })).join("\n");
    writeFileSync(join(options.out, `${set.name}.${options.split}.run.jsonl`), `${text}\n`);
  }
  const row = report(set, results);
  table.push(row);
  console.log(set.name.padEnd(18) + row.map(percent).join(""));
}
console.log("macro".padEnd(18) + table[0].map((_, m) => percent(mean(table.map((row) => row[m])))).join(""));

if (!options["no-cost"]) await measureCost(sets, code);
