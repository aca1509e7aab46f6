// Prints how well the search ranks the questions of a file with a given network, and how far its confidence
// in the first hit is off.
import { fill } from "../../bench/retrieval/data.mjs";
import { calibrationError, goldRanks, mean } from "../../bench/retrieval/metrics.mjs";
import { isExample } from "./collect.mjs";
import { generator } from "./random.mjs";

const HITS = 5;
const percent = (value) => (100 * value).toFixed(1);

/** `sets`: parts of one file, each with the parts of the search that it needs. Returns the answers. */
export async function report(code, name, sets, network) {
  const answers = [];
  for (const { set, parts } of sets) answers.push(...(await answersOf(code, set, parts, network)));
  print(name, answers);
  return answers;
}

export function print(name, answers) {
  const found = (count) =>
    mean(answers.map(({ ranks }) => mean(ranks.map((rank) => (rank < count ? 1 : 0)))));
  const error = percent(calibrationError(answers));
  const chance = percent(chanceError(answers.map(({ confidence }) => confidence)));
  const predicted = percent(mean(answers.map(({ confidence }) => confidence)));
  const actual = percent(mean(answers.map(({ right }) => (right ? 1 : 0))));
  console.log(
    `${name.padEnd(28)} first ${percent(found(1))}, among five ${percent(found(HITS))}; confidence off by ${error} (by chance ${chance}), predicted ${predicted}, actual ${actual}`,
  );
}

async function answersOf(code, set, parts, network) {
  const search = code.createSearch(code.DEFAULT_SETTINGS, { ...parts, loadScorer: async () => network });
  const idOf = fill(search, set.tools);
  const answers = [];
  for (const query of set.queries.filter(({ text }) => !isExample(text))) {
    const hits = await search.search(query.text, { limit: HITS });
    const ranks = goldRanks(query, hits.map(idOf));
    answers.push({ ranks, confidence: hits[0]?.confidence ?? 0, right: Math.min(...ranks) === 0 });
  }
  return answers;
}

/** The calibration error that so few predictions have by chance, even if they are perfectly calibrated. */
function chanceError(predicted) {
  const random = generator(7);
  const draw = () => predicted.map((confidence) => ({ confidence, right: random() < confidence }));
  return mean(Array.from({ length: 200 }, () => calibrationError(draw())));
}
