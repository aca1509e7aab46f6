/** A map that forgets what was not used for longest. Who asks can be anybody, so nothing that is kept for them may grow without bound. */
export class Lru<K, V> {
  readonly #most: number;
  readonly #entries = new Map<K, V>();
  readonly #forgotten: ((value: V, key: K) => void) | undefined;
  /** Stands before the oldest. A new iterator would walk over the places of all that were deleted since the map last grew. */
  #oldest = this.#entries.entries();

  constructor(most: number, forgotten?: (value: V, key: K) => void) {
    this.#most = most;
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Does not count as use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    while (this.#entries.size > this.#most) this.dropOldest();
  }

  /** False where there is nothing. */
  dropOldest(): boolean {
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#entries.entries();
      next = this.#oldest.next();
    }
    if (next.done) return false;
    const [key, value] = next.value;
    this.#entries.delete(key);
    this.#forgotten?.(value, key);
    return true;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
