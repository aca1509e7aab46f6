// What a server gets that no example was written for: its questions are asked with all wishes left out that want names like
// those of its tools. Figures beside those with all wishes; the first is what a new kind of server can count on.
// usage: node bench/retrieval/strangers.mjs
import { loadCode } from "./code.mjs";
import { fill } from "./data.mjs";
import { readExampleLines, readGolden, SEEN } from "./golden.mjs";
import { calibrationError, goldRanks, mean } from "./metrics.mjs";

const FILES = SEEN.filter((file) => file !== "questions.txt");
/** Words that any name may have. */
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

/** Whether half of what the name is about is in a name of the server's tools. */
function isLike(name, tools) {
  const all = wordsOf(name);
  const about = all.filter((word) => !COMMON.has(word));
  const needed = about.length > 0 ? about : all;
  return tools.some((tool) => needed.filter((word) => tool.has(word)).length >= needed.length / 2);
}

/** The examples as if nobody had thought of such tools: without the lines that want a name like one of theirs. */
async function examplesWithout(code, tools) {
  const names = tools.map(({ name }) => new Set(wordsOf(name)));
  const isStrange = (line) =>
    !(line.split(" -> ")[1] ?? "").split(" / ").some((name) => name !== "" && isLike(name, names));
  return code.examplesOf(lines.filter(isStrange).join("\n"), await code.loadEveryday());
}

const code = await loadCode();

async function ask(set, queries, loadExamples) {
  const search = code.createSearch(code.MEASURED, { loadExamples });
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
  const promised = percent(rows.map(({ confidence }) => confidence));
  const error = (100 * calibrationError(rows)).toFixed(1);
  const five = percent(rows.map((row) => row.five));
  console.log(`${name.padEnd(20)} first ${first}, five ${five}, promised ${promised}, error ${error}`);
}

const total = { known: [], strange: [] };
for (const set of readGolden(FILES)) {
  const known = await ask(set, set.queries);
  const strange = [];
  for (const server of new Set(set.queries.map(({ gold: [first] }) => first.split(":")[0]))) {
    const own = set.tools.filter((tool) => tool.server === server);
    const examples = await examplesWithout(code, own);
    const queries = set.queries.filter(({ gold: [first] }) => first.startsWith(`${server}:`));
    strange.push(...(await ask(set, queries, async () => examples)));
  }
  show(set.name, known);
  show("  as strangers", strange);
  total.known.push(...known);
  total.strange.push(...strange);
}
show("all", total.known);
show("  as strangers", total.strange);
