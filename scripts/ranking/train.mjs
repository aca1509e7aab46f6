// Builds data/ranking/network.json: the network that scores the evidence for a tool
// (src/catalog/search/network.ts). It learns from our own questions and from public sets, except for the
// files of NEVER_FITTED. The same input gives the same file. usage: node scripts/ranking/train.mjs --data DIR
// --table FILE_OF_HALF_0 --table FILE_OF_HALF_1 [--measure] The word vectors that ship were trained on the
// public sets, so each half of those is searched with vectors that were trained on the other half
// (scripts/vectors/build.mjs --half).
// --measure: leaves out each file or set in turn, prints how well it is ranked and how well the confidence
// fits, writes nothing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadCode } from "../../bench/retrieval/code.mjs";
import { halfOf, readSets } from "../../bench/retrieval/data.mjs";
import { NEVER_FITTED, readGolden, SEEN, UNREAD } from "../../bench/retrieval/golden.mjs";
import { collect } from "./collect.mjs";
import { trainNetwork } from "./network.mjs";
import { print, report } from "./report.mjs";

const { values: options } = parseArgs({
  options: {
    data: { type: "string" },
    table: { type: "string", multiple: true },
    measure: { type: "boolean", default: false },
  },
});
if (!options.data || options.table?.length !== 2) {
  console.error(
    "usage: node scripts/ranking/train.mjs --data DIR --table FILE_OF_HALF_0 --table FILE_OF_HALF_1 [--measure]",
  );
  process.exit(2);
}

const code = await loadCode();
/** All sets to learn from, each with the parts of the search that it needs. */
const sets = readGolden([...SEEN, ...UNREAD]).map((set) => ({ set, parts: {} }));
for (const half of [0, 1]) {
  const table = new code.WordTable(readFileSync(options.table[1 - half]));
  for (const set of readSets(options.data, "dev"))
    sets.push({ set: halfOf(set, String(half)), parts: { loadWords: async () => table } });
}
const questions = [];
for (const { set, parts } of sets) questions.push(...(await collect(code, set, parts)));

if (options.measure) {
  const network = new code.Network(trainNetwork(questions));
  const never = [];
  for (const set of readGolden(NEVER_FITTED))
    never.push(...(await report(code, `${set.name}, never fitted`, [{ set, parts: {} }], network)));
  print("all of these together", never);
  /** Both sets of LiveMCP are left out together, because they have the same tools. */
  const familyOf = (file) => file.replace(/^livemcp-agent$/, "livemcp");
  for (const file of new Set(questions.map((question) => question.file))) {
    const others = questions.filter((question) => familyOf(question.file) !== familyOf(file));
    await report(
      code,
      `${file}, left out`,
      sets.filter(({ set }) => set.name === file),
      new code.Network(trainNetwork(others)),
    );
  }
} else {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
  const file = join(root, "data/ranking/network.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(trainNetwork(questions, console.log))}\n`);
}
