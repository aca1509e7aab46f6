// Measures how well servers are found that no example was written for: searches the questions of each server without the examples
// whose names are like those of its tools. Prints these figures below those with all examples. They are what a new kind of server
// can expect.
// usage: node bench/retrieval/without-examples.mjs
import { loadCode } from "./code.mjs";
import { fill } from "./data.mjs";
import { readExampleLines, readGolden, SEEN } from "./golden.mjs";
import { calibrationError, goldRanks, mean } from "./metrics.mjs";

const FILES = SEEN.filter((file) => file !== "questions.txt");
/** Words that are in names of all kinds of tools. */
const COMMON = new Set(
  "get list create add update delete remove search find set read write run start stop send fetch query retrieve show make move check generate post put open close edit api browser execute insert take".split(
    " ",
  ),
);
const lines = readExampleLines();

const wordsOf = (name) =>
  (
    name
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  ).map((word) => word.replace(/e?s$/, ""));

/** Whether one of the tools has at least half of the words of the name in its own name. Common words count only if there are no others. */
function isLike(name, tools) {
  const all = wordsOf(name);
  const specific = all.filter((word) => !COMMON.has(word));
  const needed = specific.length > 0 ? specific : all;
  return tools.some((tool) => needed.filter((word) => tool.has(word)).length >= needed.length / 2);
}

/** The examples without the lines that have a name like one of the tools. */
async function examplesWithout(code, tools) {
  const names = tools.map(({ name }) => new Set(wordsOf(name)));
  const isUnrelated = (line) =>
    !(line.split(" -> ")[1] ?? "").split(" / ").some((name) => name !== "" && isLike(name, names));
  return code.examplesOf(lines.filter(isUnrelated).join("\n"), await code.loadEverydayWords());
}

const code = await loadCode();

async function searchAll(set, queries, loadExamples) {
  const search = code.createSearch(code.DEFAULT_SETTINGS, { loadExamples });
  const idOf = fill(search, set.tools);
  const out = [];
  for (const query of queries) {
    const hits = await search.search(query.text, { limit: 5 });
    const ranks = goldRanks(query, hits.map(idOf));
    out.push({
      right: Math.min(...ranks) === 0,
      five: mean(ranks.map((rank) => (rank < 5 ? 1 : 0))),
      confidence: hits[0]?.confidence ?? 0,
    });
  }
  return out;
}

function show(name, rows) {
  const percent = (values) => (100 * mean(values)).toFixed(1);
  const first = percent(rows.map(({ right }) => (right ? 1 : 0)));
  const predicted = percent(rows.map(({ confidence }) => confidence));
  const error = (100 * calibrationError(rows)).toFixed(1);
  const five = percent(rows.map((row) => row.five));
  console.log(`${name.padEnd(20)} first ${first}, five ${five}, predicted ${predicted}, error ${error}`);
}

const total = { withExamples: [], without: [] };
for (const set of readGolden(FILES)) {
  const withExamples = await searchAll(set, set.queries);
  const without = [];
  for (const server of new Set(set.queries.map(({ gold: [first] }) => first.split(":")[0]))) {
    const serverTools = set.tools.filter((tool) => tool.server === server);
    const examples = await examplesWithout(code, serverTools);
    const queries = set.queries.filter(({ gold: [first] }) => first.startsWith(`${server}:`));
    without.push(...(await searchAll(set, queries, async () => examples)));
  }
  show(set.name, withExamples);
  show("  without examples", without);
  total.withExamples.push(...withExamples);
  total.without.push(...without);
}
show("all", total.withExamples);
show("  without examples", total.without);
