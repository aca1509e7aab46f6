/** One vector per tool, with eight bits per number, compared by cosine. */

export class Matrix {
  readonly dims: number;
  #cells: Int8Array;
  /** Factor that makes the stored row a unit vector; 0 for a tool without a vector. */
  #scale: Float32Array;

  constructor(dims: number) {
    this.dims = dims;
    this.#cells = new Int8Array(0);
    this.#scale = new Float32Array(0);
  }

  /** Makes room for `capacity` slots. */
  grow(capacity: number): void {
    if (capacity <= this.#scale.length) return;
    const rows = Math.max(capacity, Math.ceil(this.#scale.length * 1.25));
    const cells = new Int8Array(rows * this.dims);
    cells.set(this.#cells);
    const scale = new Float32Array(rows);
    scale.set(this.#scale);
    this.#cells = cells;
    this.#scale = scale;
  }

  set(slot: number, vector: Float32Array | Int8Array): void {
    const { dims } = this;
    const cells = this.#cells;
    const at = slot * dims;
    let largest = 0;
    for (let d = 0; d < dims; d++) {
      const size = Math.abs(vector[d] as number);
      if (size > largest) largest = size;
    }
    const unit = largest > 0 ? 127 / largest : 0;
    let square = 0;
    for (let d = 0; d < dims; d++) {
      const cell = Math.round((vector[d] as number) * unit);
      cells[at + d] = cell;
      square += cell * cell;
    }
    this.#scale[slot] = square > 0 ? 1 / Math.sqrt(square) : 0;
  }

  /** The cosine with a unit vector. */
  cosine(slot: number, query: Float32Array): number {
    const scale = this.#scale[slot] ?? 0;
    if (scale === 0) return 0;
    const { dims } = this;
    const cells = this.#cells;
    const at = slot * dims;
    // Four sums, because with a single one each addition has to wait for the one before.
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    let d = 0;
    for (; d + 3 < dims; d += 4) {
      a += (cells[at + d] as number) * (query[d] as number);
      b += (cells[at + d + 1] as number) * (query[d + 1] as number);
      c += (cells[at + d + 2] as number) * (query[d + 2] as number);
      e += (cells[at + d + 3] as number) * (query[d + 3] as number);
    }
    for (; d < dims; d++) a += (cells[at + d] as number) * (query[d] as number);
    return (a + b + c + e) * scale;
  }
}

/** Scales to length one; a zero vector stays zero. */
export function toUnit(vector: Float32Array): Float32Array {
  let square = 0;
  // By number: an iterator makes an object for each value until V8 has compiled this.
  for (let d = 0; d < vector.length; d++) square += (vector[d] as number) * (vector[d] as number);
  if (square > 0) {
    const scale = 1 / Math.sqrt(square);
    for (let d = 0; d < vector.length; d++) vector[d] = (vector[d] as number) * scale;
  }
  return vector;
}
