/** What tools and questions mean, as sums of word vectors. Rows are made when first asked for, from words already numbered. */
import type { Collection, Placed } from "./collection.ts";
import type { Sense } from "./ground.ts";
import { Matrix } from "./matrix.ts";
import type { Phrase } from "./question.ts";
import { fieldEnd, fieldStart, TOOL_FIELDS } from "./segment.ts";
import type { WordTable } from "./word-table.ts";

const FIELD_WEIGHTS: Record<(typeof TOOL_FIELDS)[number], number> = {
  name: 3,
  title: 1.5,
  description: 1,
  parameters: 0.5,
  parameterTexts: 0.25,
};
const SERVER_WEIGHT = 1;
const SERVER_TEXT_WEIGHT = 0.3;
/** Adding a word's vector takes about as long as reading this many characters. */
const WORD_COST = 6;
const UNSEEN = -2;

export class Meaning implements Sense {
  readonly crowded = false;
  readonly matrix: Matrix;
  readonly table: WordTable;
  readonly #collection: Collection;
  readonly #done = new WeakSet<Placed>();

  constructor(table: WordTable, collection: Collection) {
    this.table = table;
    this.#collection = collection;
    this.matrix = new Matrix(table.dims);
  }

  /** Fills in the tools that have no row yet. Yields what each cost, in characters read. */
  *catchUp(): Generator<number> {
    this.matrix.grow(this.#collection.capacity);
    const sum = new Float32Array(this.table.dims);
    /** Row of each numbered word in the table. Not kept: the lexicon may give a number to another word. */
    let rows: Int32Array | undefined;
    for (const placed of this.#collection.servers) {
      if (this.#done.has(placed)) continue;
      rows ??= new Int32Array(this.#collection.lexicon.words).fill(UNSEEN);
      const server = this.#serverSum(placed, rows);
      for (let i = 0; i < placed.slots.length; i++) {
        sum.set(server);
        this.#addTool(sum, placed, i, rows);
        this.matrix.set(placed.slots[i] as number, sum);
        yield WORD_COST *
          (fieldEnd(placed.segment, i, TOOL_FIELDS.length - 1) - fieldStart(placed.segment, i, 0));
      }
      this.#done.add(placed);
    }
  }

  isWord(word: string): boolean {
    return this.table.row(word) >= 0;
  }

  vectorOf({ words }: Phrase): Float32Array | undefined {
    return this.table.vectorOf(words);
  }

  #serverSum({ segment }: Placed, rows: Int32Array): Float32Array {
    const sum = new Float32Array(this.table.dims);
    this.#add(sum, segment.serverWords, SERVER_WEIGHT, rows);
    this.#add(sum, segment.serverTextWords, SERVER_TEXT_WEIGHT, rows);
    return sum;
  }

  #addTool(sum: Float32Array, { segment }: Placed, i: number, rows: Int32Array): void {
    for (const [f, field] of TOOL_FIELDS.entries()) {
      const words = segment.words.subarray(fieldStart(segment, i, f), fieldEnd(segment, i, f));
      this.#add(sum, words, FIELD_WEIGHTS[field], rows);
    }
  }

  #add(sum: Float32Array, words: Int32Array, weight: number, rows: Int32Array): void {
    for (const word of words) {
      let row = rows[word] as number;
      if (row === UNSEEN) {
        row = this.table.row(this.#collection.lexicon.word(word));
        rows[word] = row;
      }
      if (row >= 0) this.table.addTo(sum, row, weight * this.table.weight(row));
    }
  }
}
