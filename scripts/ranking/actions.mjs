// Builds data/ranking/actions.bin: which kinds of action the words of a question ask for. A logistic
// regression, trained on the examples in data/words: the verbs of the names of a line are what its questions
// ask for. The same input gives the same file. usage: node scripts/ranking/actions.mjs [--measure]
// --measure: trains on nine tenths of the lines, prints how often the likeliest kind of the others is right,
// writes nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCode } from "../../bench/retrieval/code.mjs";
import { readExampleLines } from "../../bench/retrieval/data.mjs";
import { generator, shuffle } from "./random.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
/** Features of fewer questions are left out. */
const MIN_QUESTIONS = 4;
const EPOCHS = 12;
const LEARNING_RATE = 0.05;
const REGULARIZATION = 5e-3;
/** Shares of kinds below this count as not asked for, when the model is measured. */
const MIN_SHARE = 0.05;

const code = await loadCode();
const kinds = code.KIND_COUNT;

/**
 * How much each kind is asked for by a line: its names count 1, 1/2, 1/3 …; undefined if no name has a verb.
 */
function sharesOf(names) {
  const shares = new Float64Array(kinds);
  let total = 0;
  for (const [at, name] of names.entries()) {
    const mask = code.actionsOfName(code.words(name));
    const asked = Array.from({ length: kinds }, (_, kind) => kind).filter((kind) => (mask >> kind) & 1);
    for (const kind of asked) shares[kind] += 1 / (at + 1) / asked.length;
    if (asked.length > 0) total += 1 / (at + 1);
  }
  return total > 0 ? shares.map((share) => share / total) : undefined;
}

function readQuestions() {
  return readExampleLines()
    .filter((line) => line.includes(" -> ") && !line.startsWith("#"))
    .flatMap((line, number) => {
      const [questions, names] = line.split(" -> ");
      const shares = sharesOf(names.split(" / "));
      if (!shares) return [];
      return questions.split(" | ").map((text) => ({
        line: number,
        keys: [...code.actionFeatures(code.words(text))],
        shares,
      }));
    });
}

function probabilities({ weights, bias }, features) {
  const sums = bias.slice();
  for (const at of features)
    for (let kind = 0; kind < kinds; kind++) sums[kind] += weights[at * kinds + kind];
  const highest = Math.max(...sums);
  let total = 0;
  for (let kind = 0; kind < kinds; kind++) {
    sums[kind] = Math.exp(sums[kind] - highest);
    total += sums[kind];
  }
  return sums.map((value) => value / total);
}

/** Stochastic gradient descent with a rate per weight (AdaGrad). */
function train(questions, featureCount) {
  const model = { weights: new Float64Array(featureCount * kinds), bias: new Float64Array(kinds) };
  const weightSquares = new Float64Array(featureCount * kinds).fill(1e-3);
  const biasSquares = new Float64Array(kinds).fill(1e-3);
  const random = generator(7);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { features, shares } of shuffle(questions, random)) {
      const predicted = probabilities(model, features);
      for (let kind = 0; kind < kinds; kind++) {
        const error = predicted[kind] - shares[kind];
        step(model.bias, biasSquares, kind, error);
        for (const feature of features) {
          const at = feature * kinds + kind;
          step(model.weights, weightSquares, at, error + REGULARIZATION * model.weights[at]);
        }
      }
    }
  }
  return model;
}

function step(values, squares, at, gradient) {
  squares[at] += gradient * gradient;
  values[at] -= (LEARNING_RATE * gradient) / Math.sqrt(squares[at]);
}

function stored({ weights, bias }, features) {
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / 127;
  const bytes = Int8Array.from(weights, (weight) => Math.round(weight / scale));
  const lines = Buffer.from(features.join("\n"));
  const header = {
    scale: Number(scale.toPrecision(5)),
    bias: Array.from(bias, (value) => Number(value.toPrecision(5))),
    features: lines.length,
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), lines, Buffer.from(bytes.buffer)]);
}

const questions = readQuestions();
const counts = new Map();
for (const { keys } of questions) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
const features = [...counts.keys()].filter((key) => counts.get(key) >= MIN_QUESTIONS);
const indexes = new Map(features.map((key, at) => [key, at]));
for (const question of questions)
  question.features = question.keys.map((key) => indexes.get(key)).filter((at) => at !== undefined);

if (process.argv.includes("--measure")) {
  const isHeldOut = ({ line }) => line % 10 === 0;
  const model = train(
    questions.filter((question) => !isHeldOut(question)),
    features.length,
  );
  const heldOut = questions.filter(isHeldOut);
  const right = heldOut.filter(({ features: own, shares }) => {
    const predicted = probabilities(model, own);
    return shares[predicted.indexOf(Math.max(...predicted))] > MIN_SHARE;
  });
  console.log(`${((100 * right.length) / heldOut.length).toFixed(1)} % of ${heldOut.length} questions`);
} else {
  const file = join(root, "data/ranking/actions.bin");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stored(train(questions, features.length), features));
  console.log(`${questions.length} questions, ${features.length} features, ${kinds} kinds of action`);
}
