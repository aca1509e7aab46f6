// Fits the coefficients of the confidence: a logistic regression over the signals of hits, on our own questions and on public sets
// that are lists of real servers. Prints the coefficients, and the calibration error of each file or set with coefficients that
// were fitted without it. The files of `NEVER_FITTED` are only measured. The word vectors that ship were trained on the public
// sets, so each half of those is searched with vectors that were trained on the other half (scripts/vectors/build.mjs --half).
// usage: node bench/retrieval/calibrate.mjs --data DIR --table FILE_OF_HALF_0 --table FILE_OF_HALF_1
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { loadCode } from "./code.mjs";
import { fill, halfOf, readExampleLines, readSets } from "./data.mjs";
import { NEVER_FITTED, readGolden, SEEN, UNREAD } from "./golden.mjs";
import { calibrationError, mean, random } from "./metrics.mjs";

const { values: options } = parseArgs({
  options: { data: { type: "string" }, table: { type: "string", multiple: true } },
});
if (!options.data || options.table?.length !== 2) {
  console.error(
    "usage: node bench/retrieval/calibrate.mjs --data DIR --table FILE_OF_HALF_0 --table FILE_OF_HALF_1",
  );
  process.exit(2);
}
const SIGNALS = ["coverage", "exampleName", "scoreShare", "margin"];
/** Hits of each question that are used for the fit. */
const HITS = 5;

const wordsOf = (text) =>
  text
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join(" ");
/** Questions that are examples word for word. They are left out, because the search does better on them than on any others. */
const exampleQuestions = new Set(
  readExampleLines()
    .flatMap((line) => line.split(" -> ")[0].split(" | "))
    .map(wordsOf),
);

/** One row per hit: its signals, and whether it is right. */
async function rowsOf(code, set, parts = {}) {
  const seen = [];
  const search = code.createSearch(code.DEFAULT_SETTINGS, {
    ...parts,
    onSignals: (signals) => seen.push(signals),
  });
  const idOf = fill(search, set.tools);
  const out = [];
  for (const query of set.queries.filter(({ text }) => !exampleQuestions.has(wordsOf(text)))) {
    const gold = new Set(query.gold.flatMap((id) => [id, ...(query.alternates?.[id] ?? [])]));
    const hits = await search.search(query.text, { limit: HITS });
    const signals = seen.pop() ?? [];
    for (const [rank, hit] of hits.entries()) {
      out.push({
        file: set.name,
        rank,
        x: SIGNALS.map((name) => signals[rank][name]),
        plausibility: signals[rank].plausibility,
        right: gold.has(idOf(hit)),
      });
    }
  }
  return out;
}

const logistic = (w, x) => 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + w[i + 1] * value, w[0])));
/** The confidence as src/catalog/search/confidence.ts computes it. */
const confidenceOf = (w, { x, plausibility }) => Math.max(1e-6, plausibility * logistic(w, x));

/** Public sets to fit on. MetaTool and StableToolBench are no lists of servers, and their labels contradict each other. */
const FITTED_SETS = /^(bfcl|livemcp|livemcp-agent|mcpproxy)$/;

/** Files whose wrong results were never read are closer to real questions, so each counts as three. */
const unread = new Set(readGolden(UNREAD).map(({ name }) => name));
const weightOf = (file) => (unread.has(file) ? 3 : FITTED_SETS.test(file) ? 2 : 1);

/** L2 regularization of each coefficient; almost none for the base. */
const regularization = (i) => (i === 0 ? 1e-6 : 1e-2);

/** Logistic regression by Newton's method. All files weigh the same, regardless of their size, except for `weightOf`. */
function fit(rows) {
  const counts = new Map();
  for (const { file } of rows) counts.set(file, (counts.get(file) ?? 0) + 1);
  const n = SIGNALS.length + 1;
  let w = new Array(n).fill(0);
  for (let round = 0; round < 30; round++) {
    const gradient = new Array(n).fill(0);
    const hessian = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (i === j ? regularization(i) : 0)),
    );
    for (const row of rows) {
      const { file, x, right } = row;
      const weight = weightOf(file) / counts.get(file);
      const p = confidenceOf(w, row);
      const z = [1, ...x];
      // Correction of the derivatives for the factor `plausibility`; 1 if that is 1.
      const slope = (1 - logistic(w, x)) / (1 - p);
      for (let i = 0; i < n; i++) {
        gradient[i] += weight * slope * ((right ? 1 : 0) - p) * z[i];
        for (let j = 0; j < n; j++) hessian[i][j] += weight * slope ** 2 * p * (1 - p) * z[i] * z[j];
      }
    }
    for (let i = 0; i < n; i++) gradient[i] -= regularization(i) * w[i];
    const step = solve(hessian, gradient);
    w = w.map((value, i) => value + step[i]);
  }
  return w;
}

function solve(matrix, vector) {
  const a = matrix.map((row, i) => [...row, vector[i]]);
  const n = a.length;
  for (let i = 0; i < n; i++) {
    for (let k = i + 1; k < n; k++) {
      const factor = a[k][i] / a[i][i];
      for (let j = i; j <= n; j++) a[k][j] -= factor * a[i][j];
    }
  }
  const x = new Array(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    x[i] =
      (a[i][n] - a[i].slice(i + 1, n).reduce((sum, value, j) => sum + value * x[i + 1 + j], 0)) / a[i][i];
  }
  return x;
}

/** The calibration error that so few predictions have by chance, even if they are perfectly calibrated. */
function chanceError(predicted) {
  const next = random(7);
  const draw = () => predicted.map((confidence) => ({ confidence, right: next() < confidence }));
  return mean(Array.from({ length: 200 }, () => calibrationError(draw())));
}

const code = await loadCode();
const readRows = async (files) => {
  const sets = readGolden(files);
  return (await Promise.all(sets.map(async (set) => await rowsOf(code, set)))).flat();
};
/** Rows of one half of the public sets, searched with the vectors that were trained on the other half. */
const readHalf = async (half) => {
  const table = new code.WordTable(readFileSync(options.table[1 - half]));
  const sets = readSets(options.data, "dev").map((set) => halfOf(set, String(half)));
  const parts = { loadWords: async () => table };
  return (await Promise.all(sets.map(async (set) => await rowsOf(code, set, parts)))).flat();
};
const rows = [...(await readRows([...SEEN, ...UNREAD])), ...(await readHalf(0)), ...(await readHalf(1))];
const ours = new Set(readGolden([...SEEN, ...UNREAD]).map(({ name }) => name));
const isPublic = (file) => !ours.has(file);
const isFitted = ({ file }) => !isPublic(file) || FITTED_SETS.test(file);
/** Both sets of LiveMCP are left out together, because they have the same tools. */
const familyOf = (file) => file.replace(/^livemcp-agent$/, "livemcp");
const neverFitted = await readRows(NEVER_FITTED);
const show = (w) => ["base", ...SIGNALS].map((name, i) => `${name} ${w[i].toFixed(2)}`).join(", ");
/** Confidence and outcome of the first hit of each question. */
const predictions = (list, w) =>
  list
    .filter(({ rank }) => rank === 0)
    .map((row) => ({ confidence: confidenceOf(w, row), right: row.right }));

function report(name, list) {
  const percent = (values) => (100 * mean(values)).toFixed(1);
  const predicted = list.map(({ confidence }) => confidence);
  const actual = list.map(({ right }) => (right ? 1 : 0));
  const error = (100 * calibrationError(list)).toFixed(1);
  console.log(
    `${name.padEnd(20)} error ${error.padStart(4)} (by chance ${(100 * chanceError(predicted)).toFixed(1)}), predicted ${percent(predicted)}, actual ${percent(actual)}`,
  );
}

const all = fit(rows.filter(isFitted));
console.log(`fitted: ${show(all)}`);
const pooled = { unread: [], ours: [] };
for (const file of new Set(rows.map((row) => row.file))) {
  const without = fit(rows.filter((row) => isFitted(row) && familyOf(row.file) !== familyOf(file)));
  const list = predictions(
    rows.filter((row) => row.file === file),
    without,
  );
  report(`${file}, left out`, list);
  if (!isPublic(file)) pooled.ours.push(...list);
  if (unread.has(file)) pooled.unread.push(...list);
}
report("all unread together", pooled.unread);
report("all of ours together", pooled.ours);
for (const file of new Set(neverFitted.map((row) => row.file))) {
  report(
    `${file}, never fitted`,
    predictions(
      neverFitted.filter((row) => row.file === file),
      all,
    ),
  );
}
