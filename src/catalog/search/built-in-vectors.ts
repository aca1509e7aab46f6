/**
 * Vectors of tools and questions as sums of the word vectors that ship with the package. Makes them at the
 * first search.
 */
import type { Collection, IndexedServer } from "./collection.ts";
import { Matrix } from "./matrix.ts";
import type { Phrase } from "./question.ts";
import type { VectorSpace } from "./search-context.ts";
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
/** Adding the vector of a word takes about as long as reading this many characters. */
const WORD_COST = 6;
/** Marks a word that was not looked up in the table yet. -1 marks a word that the table does not have. */
const NOT_LOOKED_UP = -2;

export class BuiltInVectors implements VectorSpace {
  readonly subtractMean = false;
  readonly matrix: Matrix;
  readonly table: WordTable;
  readonly #collection: Collection;
  readonly #added = new WeakSet<IndexedServer>();

  constructor(table: WordTable, collection: Collection) {
    this.table = table;
    this.#collection = collection;
    this.matrix = new Matrix(table.dims);
  }

  /** Adds vectors of tools that have none yet. Yields the cost of each, in characters read. */
  *addMissing(): Generator<number> {
    this.matrix.grow(this.#collection.capacity);
    const sum = new Float32Array(this.table.dims);
    /**
     * The row of each word in the table, by word id. Not kept, because the lexicon may give an id to another
     * word.
     */
    let rows: Int32Array | undefined;
    for (const server of this.#collection.servers) {
      if (this.#added.has(server)) continue;
      rows ??= new Int32Array(this.#collection.lexicon.wordCapacity).fill(NOT_LOOKED_UP);
      const serverSum = this.#serverSum(server, rows);
      for (let i = 0; i < server.slots.length; i++) {
        sum.set(serverSum);
        this.#addTool(sum, server, i, rows);
        this.matrix.set(server.slots[i] as number, sum);
        yield WORD_COST *
          (fieldEnd(server.segment, i, TOOL_FIELDS.length - 1) - fieldStart(server.segment, i, 0));
      }
      this.#added.add(server);
    }
  }

  isWord(word: string): boolean {
    return this.table.row(word) >= 0;
  }

  vectorOf({ words }: Phrase): Float32Array | undefined {
    return this.table.vectorOf(words);
  }

  #serverSum({ segment }: IndexedServer, rows: Int32Array): Float32Array {
    const sum = new Float32Array(this.table.dims);
    this.#add(sum, segment.serverWords, SERVER_WEIGHT, rows);
    this.#add(sum, segment.serverTextWords, SERVER_TEXT_WEIGHT, rows);
    return sum;
  }

  #addTool(sum: Float32Array, { segment }: IndexedServer, i: number, rows: Int32Array): void {
    for (const [f, field] of TOOL_FIELDS.entries()) {
      const words = segment.words.subarray(fieldStart(segment, i, f), fieldEnd(segment, i, f));
      this.#add(sum, words, FIELD_WEIGHTS[field], rows);
    }
  }

  #add(sum: Float32Array, words: Int32Array, weight: number, rows: Int32Array): void {
    for (const word of words) {
      let row = rows[word] as number;
      if (row === NOT_LOOKED_UP) {
        row = this.table.row(this.#collection.lexicon.word(word));
        rows[word] = row;
      }
      if (row >= 0) this.table.addTo(sum, row, weight * this.table.weight(row));
    }
  }
}
