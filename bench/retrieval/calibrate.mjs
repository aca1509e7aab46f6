// Fits the weights of the confidence: logistic regression over a hit's signs, every group of sets counting the same.
// Prints the weights, and the calibration error of each set under weights fitted without its group; our own files are left
// out one by one. Files that nobody read the misses of are never fitted on, only measured.
// usage: node bench/retrieval/calibrate.mjs --data DIR [--split dev]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { loadCode } from "./code.mjs";
import { fill, readSets } from "./data.mjs";
import { readGolden, SEEN, UNSEEN } from "./golden.mjs";
import { calibrationError, mean, random } from "./metrics.mjs";

const SIGNS = ["coverage", "named", "likeness", "ahead", "lead"];
const HITS = 5;
const { values: options } = parseArgs({
  options: { data: { type: "string" }, split: { type: "string", default: "dev" } },
});
const OURS = "ours";
const groupOf = (set) => (/everyday|questions|asked/.test(set) ? OURS : set.split("-")[0]);

/** Lists of no server, whose labels contradict each other: of several tools that do the same one counts as right, or all. */
const isFitted = ({ group }) => group !== "metatool" && group !== "stabletoolbench";

/** A question that is an example word for word is answered better than any that is asked. */
const wordsOf = (text) =>
  text
    .toLowerCase()
    .match(/[a-z0-9]+/g)
    ?.join(" ");
const written = new Set(
  readFileSync(new URL("../../data/words/examples.txt", import.meta.url), "utf8")
    .split("\n")
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
        set: set.name,
        group: groupOf(set.name),
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

/** Our own questions are put to lists of real servers, as the product's are: they count as three groups. */
const sayOf = (group) => (group === OURS ? 3 : 1);

/** How strongly a weight is held back; the base hardly is. */
const held = (i) => (i === 0 ? 1e-6 : 1e-2);

/** Newton's method; each group weighs the same, and weights are held back a little. */
function fit(rows) {
  const counts = new Map();
  for (const { group } of rows) counts.set(group, (counts.get(group) ?? 0) + 1);
  const n = SIGNS.length + 1;
  let w = new Array(n).fill(0);
  for (let round = 0; round < 30; round++) {
    const gradient = new Array(n).fill(0);
    const hessian = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (i === j ? held(i) : 0)),
    );
    for (const row of rows) {
      const { group, x, right } = row;
      const weight = sayOf(group) / counts.get(group);
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

function auc(rows) {
  const right = rows.filter((row) => row.right).map((row) => row.p);
  const wrong = rows.filter((row) => !row.right).map((row) => row.p);
  let wins = 0;
  for (const a of right) for (const b of wrong) wins += a > b ? 1 : a === b ? 0.5 : 0;
  return wins / Math.max(1, right.length * wrong.length);
}

/** What the calibration error of so many promises is from chance alone, if each is kept as often as promised. */
function chanceError(promises) {
  const next = random(7);
  const draw = () => promises.map((confidence) => ({ confidence, right: next() < confidence }));
  return mean(Array.from({ length: 200 }, () => calibrationError(draw())));
}

const code = await loadCode();
const rows = [];
for (const set of [...readSets(options.data, options.split), ...readGolden(SEEN)])
  rows.push(...(await examples(code, set)));
const unseen = [];
for (const set of readGolden(UNSEEN)) unseen.push(...(await examples(code, set)));
const show = (w) => ["base", ...SIGNS].map((name, i) => `${name} ${w[i].toFixed(2)}`).join(", ");
const all = fit(rows.filter(isFitted));
console.log(`fitted: ${show(all)}`);
const errors = [];
const losses = [];
for (const left of new Set(rows.map(({ group, set }) => (group === OURS ? set : group)))) {
  const isLeft = ({ group, set }) => set === left || group === left;
  const w = fit(rows.filter((row) => isFitted(row) && !isLeft(row)));
  for (const set of new Set(rows.filter(isLeft).map((row) => row.set))) {
    const first = rows
      .filter((row) => row.set === set && row.rank === 0)
      .map((row) => ({ ...row, p: chance(w, row) }));
    const error = calibrationError(first.map(({ p, right }) => ({ confidence: p, right })));
    errors.push(error);
    const loss = (pick) => mean(first.map(({ p, right }) => pick(p, right ? 1 : 0)));
    losses.push([
      loss((p, y) => -Math.log(y === 1 ? p : 1 - p)),
      loss((p, y) => (p - y) ** 2),
      auc(first),
      100 * chanceError(first.map(({ p }) => p)),
    ]);
    const promised = mean(first.map(({ p }) => p));
    const kept = mean(first.map(({ right }) => (right ? 1 : 0)));
    console.log(
      `${set.padEnd(18)} left out: ECE ${(100 * error).toFixed(1)}, AUC ${auc(first).toFixed(2)}, promised ${promised.toFixed(2)}, kept ${kept.toFixed(2)}   (${show(w)})`,
    );
  }
}
const [log, square, order, floor] = [0, 1, 2, 3].map((m) => mean(losses.map((row) => row[m])));
console.log(
  `left-out sets, mean: ECE ${(100 * mean(errors)).toFixed(1)} (a perfect promise would show ${floor.toFixed(1)}), log loss ${log.toFixed(3)}, Brier ${square.toFixed(4)}, AUC ${order.toFixed(3)}`,
);
for (const set of new Set(unseen.map((row) => row.set))) {
  const shown = unseen.filter(({ rank, set: own }) => rank === 0 && own === set);
  const kept = shown.map((row) => ({ confidence: chance(all, row), right: row.right }));
  const floorOf = (list) => (100 * chanceError(list.map(({ confidence }) => confidence))).toFixed(1);
  console.log(
    `${set}, never seen: ECE ${(100 * calibrationError(kept)).toFixed(1)} (a perfect promise would show ${floorOf(kept)}), promised ${mean(kept.map(({ confidence }) => confidence)).toFixed(2)}, kept ${mean(kept.map(({ right }) => (right ? 1 : 0))).toFixed(2)}`,
  );
}
