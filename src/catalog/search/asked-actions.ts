/**
 * Which kinds of action a question asks for: a linear model over its words, trained on the examples
 * (scripts/ranking/actions.mjs).
 */
import { readShipped } from "../../home/shipped.ts";
import { KIND_COUNT } from "./actions.ts";
import { LineTable } from "./line-table.ts";
import { stem } from "./stem.ts";

const FILE = "ranking/actions.json";

export interface StoredActionModel {
  /** One feature per line; see `actionFeatures`. */
  readonly features: string;
  /** One weight per feature and kind: int8, in base64. */
  readonly weights: string;
  /** Factor for the weights. */
  readonly scale: number;
  /** What each kind has without any feature. */
  readonly bias: readonly number[];
}

export class AskedActions {
  readonly #rows: LineTable;
  readonly #weights: Int8Array;
  readonly #scale: number;
  readonly #bias: Float64Array;

  constructor({ features, weights, scale, bias }: StoredActionModel) {
    this.#rows = new LineTable(Buffer.from(features));
    this.#weights = new Int8Array(Buffer.from(weights, "base64"));
    this.#scale = scale;
    this.#bias = Float64Array.from(bias);
  }

  /** How likely each kind is, compared with the likeliest: in 0..1. */
  of(allWords: readonly string[]): Float64Array {
    const sums = this.#bias.slice();
    for (const feature of actionFeatures(allWords)) {
      const row = this.#rows.indexOf(feature);
      for (let kind = 0; row >= 0 && kind < KIND_COUNT; kind++)
        sums[kind] = (sums[kind] as number) + this.#scale * (this.#weights[row * KIND_COUNT + kind] ?? 0);
    }
    const highest = Math.max(...sums);
    return sums.map((sum) => Math.exp(sum - highest));
  }
}

/** The stems of a question, adjacent stems, and its first word, each once. */
export function actionFeatures(allWords: readonly string[]): Set<string> {
  const stems = allWords.map(stem);
  const features = new Set(stems);
  for (let i = 0; i + 1 < stems.length; i++) features.add(`${stems[i]} ${stems[i + 1]}`);
  features.add(`^${allWords[0] ?? ""}`);
  return features;
}

/** Asks for every kind of action alike. */
const UNKNOWN: StoredActionModel = {
  features: "",
  weights: "",
  scale: 0,
  bias: Array.from({ length: KIND_COUNT }, () => 0),
};

async function load(): Promise<AskedActions> {
  const stored = await readShipped(FILE);
  return new AskedActions(stored ? (JSON.parse(stored.toString("utf8")) as StoredActionModel) : UNKNOWN);
}

let loaded: Promise<AskedActions> | undefined;

export function loadAskedActions(): Promise<AskedActions> {
  loaded ??= load();
  return loaded;
}
