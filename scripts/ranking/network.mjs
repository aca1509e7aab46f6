// Trains the network: the softmax of the scores of all candidates shall be the probability that a candidate
// is right (Adam).
import { generator, shuffle } from "./random.mjs";

const HIDDEN = 12;
const EPOCHS = 30;
const BATCH = 64;
const LEARNING_RATE = 0.006;
/** Pulls the direct weights towards `BY_HAND` and all others towards 0. */
const PULL_BACK = 1e-3;
/**
 * At most this much is added to or subtracted from each input in training, so that the network does not fit
 * single questions.
 */
const NOISE = 0.35;
const MOMENTUM = 0.9;
const SQUARE_MOMENTUM = 0.99;
const DIGITS = 5;
/**
 * Weights chosen by hand, in the order of `EVIDENCE_KINDS`. The direct weights start with them, those of the
 * other inputs with 0.
 */
const BY_HAND = [1, 0.35, 0.5, 0.8, 1, 0.5, 0.5, 0.5, 0.6, 0.6, 4, 0.5];

/**
 * `questions` as `collect` returns them. Returns what src/catalog/search/network.ts reads. `log` gets one
 * line per pass.
 */
export function trainNetwork(questions, log = () => {}) {
  const learnable = questions.filter(({ right }) => right.some((wanted) => wanted >= 0));
  const { means, deviations } = moments(learnable);
  const scaled = learnable.map((question) => ({
    ...question,
    inputs: question.inputs.map((row) => row.map((value, i) => (value - means[i]) / deviations[i])),
  }));
  const weightOf = weights(scaled);
  const random = generator(7);
  const model = new Model(deviations, random);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    let loss = 0;
    const order = shuffle(scaled, random);
    for (let at = 0; at < order.length; at += BATCH) {
      const batch = order.slice(at, at + BATCH);
      for (const question of batch) {
        const weight = weightOf(question);
        loss += weight * learn(model, question, weight / batch.length, random);
      }
      // Slower towards the end, so that the last questions do not count more.
      model.step(1 - (epoch + at / order.length) / EPOCHS);
    }
    log(`pass ${epoch + 1} of ${EPOCHS}: loss ${(loss / order.length).toFixed(3)}`);
  }
  return model.stored(means, deviations);
}

function moments(questions) {
  const size = questions[0].inputs[0].length;
  const sums = new Float64Array(size);
  const squares = new Float64Array(size);
  let count = 0;
  for (const { inputs } of questions) {
    for (const row of inputs) {
      count++;
      for (let i = 0; i < size; i++) {
        sums[i] += row[i];
        squares[i] += row[i] ** 2;
      }
    }
  }
  const means = sums.map((sum) => sum / count);
  return { means, deviations: squares.map((sum, i) => Math.sqrt(sum / count - means[i] ** 2) + 1e-6) };
}

/**
 * A file with many questions counts more than one with few, but not in proportion: by the root of their
 * number. 1 on average.
 */
function weights(questions) {
  const counts = new Map();
  for (const { file } of questions) counts.set(file, (counts.get(file) ?? 0) + 1);
  const own = ({ file }) => 1 / Math.sqrt(counts.get(file));
  const mean = questions.reduce((sum, question) => sum + own(question), 0) / questions.length;
  return (question) => own(question) / mean;
}

/** Adds the gradients of one question. Returns its loss. */
function learn(model, { inputs, right }, weight, random) {
  const noisy = inputs.map((row) => row.map((value) => value + NOISE * (2 * random() - 1)));
  const units = noisy.map((row) => model.unitsOf(row));
  const scores = noisy.map((row, at) => model.score(row, units[at]));
  const highest = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - highest));
  const sumOf = (isIn) => shares.reduce((sum, share, at) => sum + (isIn(right[at]) ? share : 0), 0);
  const wrong = sumOf((tool) => tool < 0);
  // Each wanted tool competes with the wrong ones, not with the other wanted ones.
  const wanted = [...new Set(right.filter((tool) => tool >= 0))];
  const errors = new Float64Array(shares.length);
  let loss = 0;
  for (const tool of wanted) {
    const own = sumOf((other) => other === tool);
    for (const [at, share] of shares.entries()) {
      if (right[at] >= 0 && right[at] !== tool) continue;
      errors[at] += (share / (own + wrong) - (right[at] === tool ? share / own : 0)) / wanted.length;
    }
    loss -= Math.log(own / (own + wrong)) / wanted.length;
  }
  for (const [at, error] of errors.entries()) model.collect(noisy[at], units[at], weight * error);
  return loss;
}

/** A normally distributed number (Box and Muller). */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/**
 * All weights in one array: the direct ones, then those of each hidden unit, then its bias and its weight in
 * the score.
 */
class Model {
  #size;
  #start;
  #values;
  #gradients;
  #first;
  #second;
  #steps = 0;

  constructor(deviations, random) {
    const size = deviations.length;
    this.#size = size;
    this.#start = new Float64Array(size + HIDDEN * (size + 2));
    for (const [i, weight] of BY_HAND.entries()) this.#start[i] = weight * deviations[i];
    this.#values = this.#start.slice();
    this.#gradients = new Float64Array(this.#values.length);
    this.#first = new Float64Array(this.#values.length);
    this.#second = new Float64Array(this.#values.length);
    for (let unit = 0; unit < HIDDEN; unit++) {
      const start = this.#startOf(unit);
      for (let i = 0; i < size; i++) this.#values[start + i] = 0.3 * normal(random);
      this.#values[start + size + 1] = 0.1 * normal(random);
    }
  }

  #startOf(unit) {
    return this.#size + unit * (this.#size + 2);
  }

  unitsOf(row) {
    const units = new Float64Array(HIDDEN);
    for (let unit = 0; unit < HIDDEN; unit++) {
      const start = this.#startOf(unit);
      let sum = this.#values[start + this.#size];
      for (let i = 0; i < this.#size; i++) sum += this.#values[start + i] * row[i];
      units[unit] = Math.tanh(sum);
    }
    return units;
  }

  score(row, units) {
    let score = 0;
    for (let i = 0; i < this.#size; i++) score += this.#values[i] * row[i];
    for (let unit = 0; unit < HIDDEN; unit++)
      score += this.#values[this.#startOf(unit) + this.#size + 1] * units[unit];
    return score;
  }

  /** Adds the gradients of one candidate. */
  collect(row, units, error) {
    const size = this.#size;
    for (let i = 0; i < size; i++) this.#gradients[i] += error * row[i];
    for (let unit = 0; unit < HIDDEN; unit++) {
      const start = this.#startOf(unit);
      const inner = error * this.#values[start + size + 1] * (1 - units[unit] ** 2);
      for (let i = 0; i < size; i++) this.#gradients[start + i] += inner * row[i];
      this.#gradients[start + size] += inner;
      this.#gradients[start + size + 1] += error * units[unit];
    }
  }

  /** One step of Adam. `rate`: 0..1. */
  step(rate) {
    this.#steps++;
    const correction = 1 - MOMENTUM ** this.#steps;
    const squareCorrection = 1 - SQUARE_MOMENTUM ** this.#steps;
    for (let i = 0; i < this.#values.length; i++) {
      const gradient = this.#gradients[i] + PULL_BACK * (this.#values[i] - this.#start[i]);
      this.#first[i] += (1 - MOMENTUM) * (gradient - this.#first[i]);
      this.#second[i] += (1 - SQUARE_MOMENTUM) * (gradient ** 2 - this.#second[i]);
      const scale = Math.sqrt(this.#second[i] / squareCorrection) + 1e-8;
      this.#values[i] -= (rate * LEARNING_RATE * (this.#first[i] / correction)) / scale;
    }
    this.#gradients.fill(0);
  }

  stored(means, deviations) {
    const short = (values) => Array.from(values, (value) => Number(value.toPrecision(DIGITS)));
    const size = this.#size;
    return {
      means: short(means),
      deviations: short(deviations),
      direct: short(this.#values.subarray(0, size)),
      hidden: Array.from({ length: HIDDEN }, (_, unit) => {
        const start = this.#startOf(unit);
        const [bias, out] = short(this.#values.subarray(start + size, start + size + 2));
        return { weights: short(this.#values.subarray(start, start + size)), bias, out };
      }),
    };
  }
}
