// Fits the weights of the confidence: logistic regression over a hit's signs, on our own questions. Prints the weights, and the
// calibration error of each file under weights that were fitted without it. The public sets are left out: the word vectors were
// trained on them. `NEVER_FITTED` is only measured.
// usage: node bench/retrieval/calibrate.mjs
import { loadCode } from "./code.mjs";
import { fill } from "./data.mjs";
import { NEVER_FITTED, readExampleLines, readGolden, SEEN, UNREAD } from "./golden.mjs";
import { calibrationError, mean, random } from "./metrics.mjs";

const SIGNS = ["coverage", "likeness", "ahead", "lead"];
/** Hits of each question that are fitted on. */
const HITS = 5;

/** A question that is an example word for word is answered better than any that is asked. */
const wordsOf = (text) =>
  text
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join(" ");
const written = new Set(
  readExampleLines()
    .flatMap((line) => line.split(" -> ")[0].split(" | "))
    .map(wordsOf),
);

async function examples(code, set) {
  const seen = [];
  const search = code.createSearch(code.MEASURED, { onSigns: (signs) => seen.push(signs) });
  const idOf = fill(search, set.tools);
  const out = [];
  for (const query of set.queries.filter(({ text }) => !written.has(wordsOf(text)))) {
    const gold = new Set(query.gold.flatMap((id) => [id, ...(query.alternates?.[id] ?? [])]));
    const hits = await search.search(query.text, { limit: HITS });
    const signs = seen.pop() ?? [];
    for (const [rank, hit] of hits.entries()) {
      out.push({
        file: set.name,
        rank,
        x: SIGNS.map((sign) => signs[rank][sign]),
        grounded: signs[rank].grounded,
        right: gold.has(idOf(hit)),
      });
    }
  }
  return out;
}

const logistic = (w, x) => 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + w[i + 1] * value, w[0])));
/** What ships: the fitted chance, less where there is little in common. */
const chance = (w, { x, grounded }) => Math.max(1e-6, grounded * logistic(w, x));

/** Files whose misses nobody read are nearer to what strangers ask: each counts as three. */
const unread = new Set(readGolden(UNREAD).map(({ name }) => name));
const weightOf = (file) => (unread.has(file) ? 3 : 1);

/** How strongly a weight is held back; the base hardly is. */
const held = (i) => (i === 0 ? 1e-6 : 1e-2);

/** Newton's method; the size of a file does not count, and weights are held back a little. */
function fit(rows) {
  const counts = new Map();
  for (const { file } of rows) counts.set(file, (counts.get(file) ?? 0) + 1);
  const n = SIGNS.length + 1;
  let w = new Array(n).fill(0);
  for (let round = 0; round < 30; round++) {
    const gradient = new Array(n).fill(0);
    const hessian = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (i === j ? held(i) : 0)),
    );
    for (const row of rows) {
      const { file, x, right } = row;
      const weight = weightOf(file) / counts.get(file);
      const p = chance(w, row);
      const z = [1, ...x];
      // How fast the chance rises with the sum, by how fast that of an ungrounded one would: 1 where nothing is taken off.
      const slope = (1 - logistic(w, x)) / (1 - p);
      for (let i = 0; i < n; i++) {
        gradient[i] += weight * slope * ((right ? 1 : 0) - p) * z[i];
        for (let j = 0; j < n; j++) hessian[i][j] += weight * slope ** 2 * p * (1 - p) * z[i] * z[j];
      }
    }
    for (let i = 0; i < n; i++) gradient[i] -= held(i) * w[i];
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

/** What the calibration error of so many promises is from chance alone, if each is kept as often as promised. */
function chanceError(promises) {
  const next = random(7);
  const draw = () => promises.map((confidence) => ({ confidence, right: next() < confidence }));
  return mean(Array.from({ length: 200 }, () => calibrationError(draw())));
}

const code = await loadCode();
const readRows = async (files) => {
  const sets = readGolden(files);
  return (await Promise.all(sets.map(async (set) => await examples(code, set)))).flat();
};
const rows = await readRows([...SEEN, ...UNREAD]);
const strange = await readRows(NEVER_FITTED);
const show = (w) => ["base", ...SIGNS].map((name, i) => `${name} ${w[i].toFixed(2)}`).join(", ");
const promises = (list, w) =>
  list.filter(({ rank }) => rank === 0).map((row) => ({ confidence: chance(w, row), right: row.right }));

function report(name, list) {
  const percent = (values) => (100 * mean(values)).toFixed(1);
  const promised = list.map(({ confidence }) => confidence);
  const kept = list.map(({ right }) => (right ? 1 : 0));
  const error = (100 * calibrationError(list)).toFixed(1);
  console.log(
    `${name.padEnd(20)} error ${error.padStart(4)} (by chance ${(100 * chanceError(promised)).toFixed(1)}), promised ${percent(promised)}, kept ${percent(kept)}`,
  );
}

const all = fit(rows);
console.log(`fitted: ${show(all)}`);
const pooled = { unread: [], every: [] };
for (const file of new Set(rows.map((row) => row.file))) {
  const without = fit(rows.filter((row) => row.file !== file));
  const list = promises(
    rows.filter((row) => row.file === file),
    without,
  );
  report(`${file}, left out`, list);
  pooled.every.push(...list);
  if (unread.has(file)) pooled.unread.push(...list);
}
report("all unread together", pooled.unread);
report("all together", pooled.every);
for (const file of new Set(strange.map((row) => row.file))) {
  report(
    `${file}, never fitted`,
    promises(
      strange.filter((row) => row.file === file),
      all,
    ),
  );
}
