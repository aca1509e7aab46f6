// Moves word vectors so that a question is near its right tool and far from other tools of the same list.
// Contrastive training: for each question of a batch, the tools of the other questions are the wrong ones
// (InfoNCE loss, Adam). The same input gives the same vectors: the order of the questions comes from a seeded
// generator.
import { generator, shuffle } from "../ranking/random.mjs";

const EPOCHS = 6;
const BATCH = 256;
/** With fewer wrong tools a batch teaches nothing. */
const SMALLEST_BATCH = 9;
const LEARNING_RATE = 0.01;
/** The lower, the more the nearest wrong tools count. */
const TEMPERATURE = 0.15;
/** Pulls each vector back to where it started, so that words with few questions stay where GloVe put them. */
const PULL_BACK = 3e-4;
const MOMENTUM = 0.9;
const SQUARE_MOMENTUM = 0.99;
const EPSILON = 1e-6;
/** Smaller gradients are skipped: they cost most of the time and change nothing. */
const SMALLEST_GRADIENT = 1e-4;

/**
 * `rows`: one vector per word. `lists`: `{name, tools: [bag], pairs: [{question: bag, tool: index}]}`, where
 * a bag is `[[row, weight]]`: the words of a text. Returns the new rows. `log` gets one line per pass over
 * the questions.
 */
export function train(rows, lists, log = () => {}) {
  const dims = rows[0].length;
  const start = Float32Array.from(rows.flatMap((row) => [...row]));
  const model = new Model(start, dims);
  const random = generator(7);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    let loss = 0;
    let count = 0;
    for (const batch of batches(lists, random)) {
      loss += learn(model, batch);
      count += batch.pairs.length;
    }
    log(`pass ${epoch + 1} of ${EPOCHS}: loss ${(loss / count).toFixed(3)}`);
  }
  return rows.map((_, row) => model.vectors.subarray(row * dims, (row + 1) * dims));
}

/** Each batch has questions of one list only, because tools of different lists are too easy to tell apart. */
function batches(lists, random) {
  const out = [];
  for (const { tools, pairs } of lists) {
    const shuffled = shuffle(pairs, random);
    for (let at = 0; at + SMALLEST_BATCH <= shuffled.length; at += BATCH)
      out.push({ tools, pairs: shuffled.slice(at, at + BATCH) });
  }
  return shuffle(out, random);
}

/** One training step. Returns the sum of the losses. */
function learn(model, { tools, pairs }) {
  const ids = [...new Set(pairs.map(({ tool }) => tool))];
  const indexes = new Map(ids.map((id, at) => [id, at]));
  const encoded = ids.map((id) => model.encode(tools[id]));
  const toolGradients = encoded.map(() => new Float32Array(model.dims));
  let loss = 0;
  for (const { question, tool } of pairs) {
    const query = model.encode(question);
    const scores = encoded.map(({ unit }) => dot(query.unit, unit) / TEMPERATURE);
    const highest = Math.max(...scores);
    const sum = scores.reduce((total, score) => total + Math.exp(score - highest), 0);
    const right = indexes.get(tool);
    loss -= scores[right] - highest - Math.log(sum);
    const gradient = new Float32Array(model.dims);
    for (const [at, score] of scores.entries()) {
      const error = (Math.exp(score - highest) / sum - (at === right ? 1 : 0)) / TEMPERATURE;
      if (Math.abs(error) < SMALLEST_GRADIENT) continue;
      add(gradient, encoded[at].unit, error);
      add(toolGradients[at], query.unit, error);
    }
    model.collect(question, query, gradient);
  }
  for (const [at, id] of ids.entries()) model.collect(tools[id], encoded[at], toolGradients[at]);
  model.step(pairs.length);
  return loss;
}

class Model {
  /** Mean gradient, mean square of the gradient, and number of steps, as in Adam. */
  #first;
  #second;
  #steps;
  #start;
  #gradients = new Map();

  constructor(start, dims) {
    this.dims = dims;
    this.vectors = start.slice();
    this.#start = start;
    this.#first = new Float32Array(start.length);
    this.#second = new Float32Array(start.length);
    this.#steps = new Int32Array(start.length / dims);
  }

  /** The unit vector of a bag, and its length before scaling. */
  encode(bag) {
    const unit = new Float32Array(this.dims);
    for (const [row, weight] of bag) add(unit, this.#row(row), weight);
    const length = Math.sqrt(dot(unit, unit)) || 1;
    for (let d = 0; d < unit.length; d++) unit[d] /= length;
    return { unit, length };
  }

  /** Adds the gradient of a bag's unit vector to the gradients of its words. */
  collect(bag, { unit, length }, gradient) {
    const along = dot(gradient, unit);
    const own = gradient.map((value, d) => (value - along * unit[d]) / length);
    for (const [row, weight] of bag) {
      if (!this.#gradients.has(row)) this.#gradients.set(row, new Float32Array(this.dims));
      add(this.#gradients.get(row), own, weight);
    }
  }

  /** One step of Adam, for the words of this batch only. */
  step(size) {
    for (const [row, gradient] of this.#gradients) {
      this.#steps[row] += 1;
      const correction = 1 - MOMENTUM ** this.#steps[row];
      const squareCorrection = 1 - SQUARE_MOMENTUM ** this.#steps[row];
      for (let d = 0, at = row * this.dims; d < this.dims; d++, at++) {
        const value = gradient[d] / size + PULL_BACK * (this.vectors[at] - this.#start[at]);
        this.#first[at] += (1 - MOMENTUM) * (value - this.#first[at]);
        this.#second[at] += (1 - SQUARE_MOMENTUM) * (value * value - this.#second[at]);
        const scale = Math.sqrt(this.#second[at] / squareCorrection) + EPSILON;
        this.vectors[at] -= (LEARNING_RATE * (this.#first[at] / correction)) / scale;
      }
    }
    this.#gradients.clear();
  }

  #row(row) {
    return this.vectors.subarray(row * this.dims, (row + 1) * this.dims);
  }
}

function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d] * b[d];
  return sum;
}

function add(sum, vector, factor) {
  for (let d = 0; d < sum.length; d++) sum[d] += factor * vector[d];
}
