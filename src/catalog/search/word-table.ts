/** The word vectors that ship with the package. Loaded at the first search. */
import { readShipped } from "../../home/shipped.ts";
import { LineTable } from "./line-table.ts";
import { toUnit } from "./matrix.ts";

const MAGIC = "MCPWORD1";
const HEADER_BYTES = 20;
const FILE = "vectors/words.bin";

/**
 * Smooth inverse frequency: the more common a word, the lower its weight. The frequency is estimated from the
 * rank (Zipf's law).
 */
const SIF = 1e-3;
const RANK_SHIFT = 2.7;
/** Sum of 1 / (rank + shift) over the 340,000 words of the original vectors. */
const HARMONIC = 11.94;

export class WordTable {
  readonly dims: number;
  readonly #rows: LineTable;
  readonly #cells: Int8Array;
  /** With the scales, which are read where they are used. */
  readonly #bytes: Buffer;

  /**
   * Layout: magic, number of rows, dimensions, bytes of words; scales (float32), cells (int8), words by rank,
   * one per line.
   */
  constructor(bytes: Buffer) {
    if (bytes.toString("latin1", 0, 8) !== MAGIC) throw new Error("not a table of word vectors");
    const rows = bytes.readUInt32LE(8);
    this.dims = bytes.readUInt32LE(12);
    const wordBytes = bytes.readUInt32LE(16);
    const cellsAt = HEADER_BYTES + rows * 4;
    const wordsAt = cellsAt + rows * this.dims;
    if (bytes.length !== wordsAt + wordBytes) throw new Error("table of word vectors is cut short");
    this.#bytes = bytes;
    this.#cells = new Int8Array(bytes.buffer, bytes.byteOffset + cellsAt, rows * this.dims);
    this.#rows = new LineTable(bytes.subarray(wordsAt));
  }

  /** The row of the word or of its singular; -1 if the table has neither. */
  row(word: string): number {
    if (word.length < 2) return -1;
    const row = this.#rows.indexOf(word);
    return row < 0 && word.endsWith("s") ? this.#rows.indexOf(word.slice(0, -1)) : row;
  }

  weight(row: number): number {
    return Math.fround(SIF / (SIF + 1 / ((row + RANK_SHIFT) * HARMONIC)));
  }

  /**
   * The weighted sum of the vectors of the words, as a unit vector; undefined if the table has none of them.
   */
  vectorOf(words: Iterable<string>): Float32Array | undefined {
    const sum = new Float32Array(this.dims);
    let known = false;
    for (const word of new Set(words)) {
      const row = this.row(word);
      if (row < 0) continue;
      known = true;
      this.addTo(sum, row, this.weight(row));
    }
    return known ? toUnit(sum) : undefined;
  }

  /** Adds `factor` times the vector of a row to `sum`. */
  addTo(sum: Float32Array, row: number, factor: number): void {
    const unit = factor * this.#bytes.readFloatLE(HEADER_BYTES + row * 4);
    const at = row * this.dims;
    const { dims } = this;
    const cells = this.#cells;
    let d = 0;
    // Four at a time, because the first search spends most of its time here.
    for (; d + 3 < dims; d += 4) {
      const from = at + d;
      sum[d] = (sum[d] as number) + (cells[from] as number) * unit;
      sum[d + 1] = (sum[d + 1] as number) + (cells[from + 1] as number) * unit;
      sum[d + 2] = (sum[d + 2] as number) + (cells[from + 2] as number) * unit;
      sum[d + 3] = (sum[d + 3] as number) + (cells[from + 3] as number) * unit;
    }
    for (; d < dims; d++) sum[d] = (sum[d] as number) + (cells[at + d] as number) * unit;
  }
}

let loaded: Promise<WordTable | undefined> | undefined;

/** Reads the file once. Undefined if it is missing or invalid; then search uses keywords only. */
export function loadWordTable(): Promise<WordTable | undefined> {
  loaded ??= readWordTable();
  return loaded;
}

async function readWordTable(): Promise<WordTable | undefined> {
  const bytes = await readShipped(FILE);
  try {
    return bytes && new WordTable(bytes);
  } catch {
    return undefined;
  }
}
