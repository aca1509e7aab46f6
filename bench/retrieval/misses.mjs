// Prints the questions whose right tool is not the first hit, with the first hits, to find out why. usage:
// node bench/retrieval/misses.mjs FILE.txt… (below test/golden-retrieval) | --data DIR SET… [--from RANK]
// [--servers PATTERN]
import { parseArgs } from "node:util";
import { loadCode } from "./code.mjs";
import { fill, readSets } from "./data.mjs";
import { readGolden } from "./golden.mjs";
import { goldRanks } from "./metrics.mjs";

const SHOWN = 4;
const { values: options, positionals } = parseArgs({
  options: {
    data: { type: "string" },
    from: { type: "string", default: "1" },
    servers: { type: "string", default: "." },
  },
  allowPositionals: true,
});
const code = await loadCode();
const sets = options.data
  ? readSets(options.data, "dev").filter(({ name }) => positionals.includes(name))
  : readGolden(positionals);
for (const set of sets) {
  const search = code.createSearch(code.DEFAULT_SETTINGS);
  const idOf = fill(search, set.tools);
  for (const query of set.queries.filter(
    ({ gold }) => new RegExp(`^(?:${options.servers}):`).test(gold[0]) || options.servers === ".",
  )) {
    const hits = await search.search(query.text, { limit: 50 });
    const ranks = goldRanks(query, hits.map(idOf));
    if (Math.min(...ranks) < Number(options.from)) continue;
    console.log(`${query.text}\n   wants ${query.gold.map((id, i) => `${id} #${ranks[i] + 1}`).join(", ")}`);
    for (const hit of hits.slice(0, SHOWN))
      console.log(`   ${hit.score.toFixed(2)} ${hit.confidence} ${idOf(hit)}`);
  }
}
