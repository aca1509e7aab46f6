/** A map with a maximum size: drops the least recently used entry. Keys come from callers, so maps by caller must be bounded. */
export class Lru<K, V> {
  readonly #maxSize: number;
  readonly #entries = new Map<K, V>();
  readonly #onDropped: ((value: V, key: K) => void) | undefined;
  /** Points to the oldest entry. A new iterator would first skip all entries that were deleted since the map last grew. */
  #oldest = this.#entries.entries();

  constructor(maxSize: number, onDropped?: (value: V, key: K) => void) {
    this.#maxSize = maxSize;
    this.#onDropped = onDropped;
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
    while (this.#entries.size > this.#maxSize) this.dropOldest();
  }

  /** Returns false if the map is empty. */
  dropOldest(): boolean {
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#entries.entries();
      next = this.#oldest.next();
    }
    if (next.done) return false;
    const [key, value] = next.value;
    this.#entries.delete(key);
    this.#onDropped?.(value, key);
    return true;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
