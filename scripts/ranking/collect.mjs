// The evidence for each candidate of each question, as the search passes it to the network, and which
// candidates are right.
import { fill, readExampleLines } from "../../bench/retrieval/data.mjs";

const CANDIDATES = 100;
const wordsOf = (text) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join(" ");
/**
 * Questions that are examples word for word. They are left out, because the search does better on them than
 * on any others.
 */
const exampleQuestions = new Set(
  readExampleLines()
    .flatMap((line) => line.split(" -> ")[0].split(" | "))
    .map(wordsOf),
);

export function isExample(text) {
  return exampleQuestions.has(wordsOf(text));
}

/**
 * One entry per question: `{file, wanted, inputs: [array per candidate], right: [which wanted tool it is, or
 * -1]}`.
 */
export async function collect(code, set, parts = {}) {
  let recorded = [];
  // Lower for each call, so that the hits come in the order of the calls.
  const scorer = { score: (inputs) => -1_000 * recorded.push(Float64Array.from(inputs)) };
  const search = code.createSearch(code.DEFAULT_SETTINGS, { ...parts, loadScorer: async () => scorer });
  const idOf = fill(search, set.tools);
  const out = [];
  for (const query of set.queries.filter(({ text }) => !isExample(text))) {
    recorded = [];
    const hits = await search.search(query.text, { limit: CANDIDATES });
    // The first call is for a tool without any evidence.
    const inputs = recorded.slice(1, 1 + hits.length);
    const accepted = query.gold.map((id) => [id, ...(query.alternates?.[id] ?? [])]);
    const right = hits.map((hit) => accepted.findIndex((ids) => ids.includes(idOf(hit))));
    out.push({ file: set.name, wanted: query.gold.length, inputs, right });
  }
  return out;
}
