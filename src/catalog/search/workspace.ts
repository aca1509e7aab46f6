/** Arrays as long as the catalog, kept between questions: making them anew would cost more than the arithmetic. */

export class Workspace {
  readonly #arrays: Float64Array[] = [];
  #taken = 0;

  /** Gives all arrays back. */
  reset(): void {
    this.#taken = 0;
  }

  /** Gives back the array taken last. */
  giveBack(): void {
    this.#taken--;
  }

  /** An array of zeros, valid until `reset`. */
  take(length: number): Float64Array {
    const kept = this.#arrays[this.#taken];
    if (kept && kept.length >= length) {
      this.#taken++;
      const array = kept.length === length ? kept : kept.subarray(0, length);
      return array.fill(0);
    }
    const array = new Float64Array(Math.ceil(length * 1.25));
    this.#arrays[this.#taken++] = array;
    return array.subarray(0, length);
  }
}
