/**
 * A map and a set for entries that come and go with every call. V8 allocates a new table for a Map or Set
 * after some deletions, and the old table keeps a reference to the new one. Once one table is old enough to
 * be collected only with the whole heap, it keeps alive all later tables with what they contained, which is
 * every call until that collection. These two begin with a table that no other one refers to, before many
 * have been linked.
 */

/** Deletions after which the table is renewed, if that many entries or fewer are left. */
const RENEW_AFTER = 256;

export class PassingMap<K, V> {
  #entries = new Map<K, V>();
  #deleted = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    // Not in `delete`, so that a loop may delete what it visits.
    if (this.#deleted >= RENEW_AFTER && this.#deleted >= this.#entries.size) {
      this.#entries = new Map(this.#entries);
      this.#deleted = 0;
    }
    this.#entries.set(key, value);
  }

  delete(key: K): boolean {
    const deleted = this.#entries.delete(key);
    if (deleted) this.#deleted++;
    return deleted;
  }

  clear(): void {
    this.#entries = new Map();
    this.#deleted = 0;
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}

export class PassingSet<T> {
  readonly #entries = new PassingMap<T, true>();

  get size(): number {
    return this.#entries.size;
  }

  add(entry: T): void {
    this.#entries.set(entry, true);
  }

  delete(entry: T): boolean {
    return this.#entries.delete(entry);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#entries.keys();
  }
}
