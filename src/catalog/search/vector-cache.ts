/**
 * Caches vectors of an embedder on disk by hash of the text, one file per endpoint and model. An unreadable
 * file counts as empty.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "../../home/file.ts";

const MAGIC = "MCPVECT1";
const HASH_BYTES = 16;
const HEADER_BYTES = 12;
const MAX_ENTRIES = 200_000;

export class VectorCache {
  readonly #path: string;
  #entries: Map<string, Int8Array> | undefined;
  #dims = 0;

  constructor(folder: string, id: string) {
    this.#path = join(folder, `${id}.bin`);
  }

  /** The cached vector, rounded to eight bits. */
  async get(text: string): Promise<Int8Array | undefined> {
    return (await this.#load()).get(hashOf(text));
  }

  /** Returns the vector rounded to eight bits. */
  async put(text: string, vector: Float32Array): Promise<Int8Array> {
    const entries = await this.#load();
    // Another length means another model with the same name. Its vectors cannot be compared with the cached
    // ones.
    if (vector.length !== this.#dims) entries.clear();
    this.#dims = vector.length;
    let largest = 0;
    for (const value of vector) largest = Math.max(largest, Math.abs(value));
    const rounded = Int8Array.from(vector, (value) => Math.round((value / largest) * 127));
    const hash = hashOf(text);
    entries.delete(hash);
    entries.set(hash, rounded);
    return rounded;
  }

  /** Writes the file. If there are too many entries, the oldest are dropped. */
  async save(): Promise<void> {
    const entries = [...(await this.#load())].slice(-MAX_ENTRIES);
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(MAGIC, "latin1");
    header.writeUInt32LE(this.#dims, 8);
    const parts = entries.flatMap(([hash, cells]) => [
      Buffer.from(hash, "hex"),
      Buffer.from(cells.buffer, cells.byteOffset, cells.length),
    ]);
    await writeAtomic(this.#path, Buffer.concat([header, ...parts]));
  }

  async #load(): Promise<Map<string, Int8Array>> {
    if (this.#entries) return this.#entries;
    const bytes = await readFile(this.#path).catch(() => Buffer.alloc(0));
    this.#entries ??= this.#parse(bytes);
    return this.#entries;
  }

  #parse(bytes: Buffer): Map<string, Int8Array> {
    const entries = new Map<string, Int8Array>();
    if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, 8) !== MAGIC) return entries;
    const dims = bytes.readUInt32LE(8);
    const step = HASH_BYTES + dims;
    if (dims === 0 || (bytes.length - HEADER_BYTES) % step !== 0) return entries;
    this.#dims = dims;
    for (let at = HEADER_BYTES; at < bytes.length; at += step) {
      const cells = new Int8Array(bytes.buffer, bytes.byteOffset + at + HASH_BYTES, dims);
      entries.set(bytes.toString("hex", at, at + HASH_BYTES), cells);
    }
    return entries;
  }
}

function hashOf(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, HASH_BYTES * 2);
}
