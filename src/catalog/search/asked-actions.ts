/**
 * Which kinds of action a question asks for: a linear model over its words, trained on the examples
 * (scripts/ranking/actions.mjs).
 */
import { readShipped } from "../../home/shipped.ts";
import { KIND_COUNT } from "./actions.ts";
import { LineTable } from "./line-table.ts";
import { stem } from "./stem.ts";

const FILE = "ranking/actions.bin";

/**
 * The first line of the file. After it come the features, one per line (see `actionFeatures`), and one weight
 * (int8) per feature and kind: as bytes, because a JSON text of half a megabyte is in memory several times
 * while it is read.
 */
interface StoredHeader {
  /** Bytes of the features. */
  readonly features: number;
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

  constructor(stored: Buffer) {
    const featuresAt = stored.indexOf("\n") + 1;
    const header = JSON.parse(stored.toString("utf8", 0, featuresAt)) as StoredHeader;
    const { features, scale, bias } = header;
    const weightsAt = featuresAt + features;
    this.#rows = new LineTable(stored.subarray(featuresAt, weightsAt));
    this.#weights = new Int8Array(stored.buffer, stored.byteOffset + weightsAt, stored.length - weightsAt);
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

/** Without the file every kind of action is asked for alike. */
function unknown(): Buffer {
  const header: StoredHeader = { features: 0, scale: 0, bias: Array.from({ length: KIND_COUNT }, () => 0) };
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

async function load(): Promise<AskedActions> {
  return new AskedActions((await readShipped(FILE)) ?? unknown());
}

let loaded: Promise<AskedActions> | undefined;

export function loadAskedActions(): Promise<AskedActions> {
  loaded ??= load();
  return loaded;
}
