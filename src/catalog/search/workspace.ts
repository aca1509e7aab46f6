/**
 * Arrays with one number per slot, reused by later searches: allocating them would take longer than the
 * arithmetic.
 */

export class Workspace {
  readonly #arrays: Float64Array[] = [];
  #taken = 0;

  /** Releases all arrays. */
  reset(): void {
    this.#taken = 0;
  }

  /** Releases the array that was taken last. */
  releaseLast(): void {
    this.#taken--;
  }

  /** An array of zeros, valid until it is released. */
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
