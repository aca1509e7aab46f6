/**
 * The network that scores a tool by its evidence: one hidden layer. It was trained
 * (scripts/ranking/train.mjs) so that the softmax of the scores of all candidates is the probability that a
 * tool is the right one.
 */
import { readShipped } from "../../home/shipped.ts";

const FILE = "ranking/network.json";

export interface StoredNetwork {
  /** Mean and standard deviation of each input. */
  readonly means: readonly number[];
  readonly deviations: readonly number[];
  /** From the inputs straight to the score. */
  readonly direct: readonly number[];
  /** Of each hidden unit: the weights of the inputs, its bias, and its weight in the score. */
  readonly hidden: readonly {
    readonly weights: readonly number[];
    readonly bias: number;
    readonly out: number;
  }[];
}

export class Network {
  readonly #means: Float64Array;
  readonly #deviations: Float64Array;
  readonly #direct: Float64Array;
  readonly #hidden: readonly {
    readonly weights: Float64Array;
    readonly bias: number;
    readonly out: number;
  }[];
  /** The inputs of one tool, standardized; reused. */
  readonly #scaled: Float64Array;

  constructor({ means, deviations, direct, hidden }: StoredNetwork) {
    this.#means = Float64Array.from(means);
    this.#deviations = Float64Array.from(deviations);
    this.#direct = Float64Array.from(direct);
    this.#hidden = hidden.map(({ weights, bias, out }) => ({
      weights: Float64Array.from(weights),
      bias,
      out,
    }));
    this.#scaled = new Float64Array(means.length);
  }

  score(inputs: Float64Array): number {
    const scaled = this.#scaled;
    let score = 0;
    for (let i = 0; i < scaled.length; i++) {
      const value = ((inputs[i] as number) - (this.#means[i] as number)) / (this.#deviations[i] as number);
      scaled[i] = value;
      score += (this.#direct[i] as number) * value;
    }
    for (const { weights, bias, out } of this.#hidden) {
      let sum = bias;
      for (let i = 0; i < scaled.length; i++) sum += (weights[i] as number) * (scaled[i] as number);
      score += out * Math.tanh(sum);
    }
    return score;
  }
}

async function load(): Promise<Network | undefined> {
  const stored = await readShipped(FILE);
  return stored && new Network(JSON.parse(stored.toString("utf8")) as StoredNetwork);
}

let loaded: Promise<Network | undefined> | undefined;

/** Undefined if the file is missing; then keywords rank. */
export function loadNetwork(): Promise<Network | undefined> {
  loaded ??= load();
  return loaded;
}
