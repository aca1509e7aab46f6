/**
 * A map with a maximum size: drops the least recently used entry. Keys come from callers, so maps by caller
 * must be bounded. The order of use is a linked list. The order of a `Map` would not do: each use would
 * delete and add the key, and an iterator that remembers the oldest entry keeps every table alive that the
 * map has outgrown since.
 */
interface Entry<K, V> {
  readonly key: K;
  value: V;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

export class Lru<K, V> {
  readonly #maxSize: number;
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #onDropped: ((value: V, key: K) => void) | undefined;
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;

  constructor(maxSize: number, onDropped?: (value: V, key: K) => void) {
    this.#maxSize = maxSize;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry) this.#use(entry);
    return entry?.value;
  }

  /** Does not count as use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: K, value: V): void {
    const known = this.#entries.get(key);
    if (known) {
      known.value = value;
      this.#use(known);
      return;
    }
    const entry: Entry<K, V> = { key, value, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.#entries.size > this.#maxSize) this.dropOldest();
  }

  /** Returns false if the map is empty. */
  dropOldest(): boolean {
    const entry = this.#oldest;
    if (!entry) return false;
    this.delete(entry.key);
    this.#onDropped?.(entry.value, entry.key);
    return true;
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#unlink(entry);
  }

  #use(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
  }

  /** Leaves no link in the entry: an entry that waits for garbage collection would keep its neighbours. */
  #unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}
