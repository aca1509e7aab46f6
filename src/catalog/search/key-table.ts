/**
 * Numbers keys: the position of a key's hash in a sorted list. Stored as numbers, because creating 100,000
 * strings would take a tenth of a second at the first search. Keys with the same hash count as one key.
 */
export class KeyTable {
  readonly #hashes: Uint32Array;

  /** `hashes`: sorted, each once. */
  constructor(hashes: Uint32Array) {
    this.#hashes = hashes;
  }

  /** -1 if the table does not have the key. */
  indexOf(key: string): number {
    const wanted = hashOf(key);
    let low = 0;
    let high = this.#hashes.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const hash = this.#hashes[middle] as number;
      if (hash === wanted) return middle;
      if (hash < wanted) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  has(key: string): boolean {
    return this.indexOf(key) >= 0;
  }
}

/** FNV-1a over UTF-16 code units. */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
