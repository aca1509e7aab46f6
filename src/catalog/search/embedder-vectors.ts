/**
 * Vectors from an embedder that the user configured. Embeds tools in the background, so no update waits for
 * it. While it fails or has not embedded all tools, it offers no vectors, and the caller uses the built-in
 * ones.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Tool } from "../tool.ts";
import type { Collection, IndexedServer } from "./collection.ts";
import type { Embedder } from "./embedder.ts";
import { textOf } from "./fields.ts";
import { Matrix } from "./matrix.ts";
import type { VectorSpace } from "./search-context.ts";
import type { VectorCache } from "./vector-cache.ts";

/** After a failure the embedder gets no requests for this long. */
const COOLDOWN_MS = 30_000;
const BATCH = 64;
/**
 * Ends a request that hangs. Longer than the timeout of a question, since no search waits for a batch of
 * tools.
 */
const BATCH_TIMEOUT_MS = 60_000;
const MAX_TEXT_LENGTH = 2_000;
/** Question texts whose vectors are kept in memory. */
const MAX_RECENT = 200;

export interface EmbedderParts {
  readonly embedder: Embedder;
  readonly cache: VectorCache;
  readonly clock: Clock;
  readonly log: Log;
}

/** Vectors of the texts of a question, by text. */
export type QuestionVectors = ReadonlyMap<string, Float32Array>;

export class EmbedderVectors {
  readonly #parts: EmbedderParts;
  readonly #collection: Collection;
  readonly #tools = new Map<ServerId, readonly Tool[]>();
  readonly #recent = new Map<string, Float32Array>();
  #embedded = new WeakSet<IndexedServer>();
  #matrix = new Matrix(0);
  #running = false;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(parts: EmbedderParts, collection: Collection) {
    this.#parts = parts;
    this.#collection = collection;
  }

  /** Starts to embed the tools. The collection must already have them. */
  update(server: ServerId, tools: readonly Tool[]): void {
    this.#tools.set(server, tools);
    void this.#embedMissing();
  }

  remove(server: ServerId): void {
    this.#tools.delete(server);
  }

  /** Embeds the texts of a question. Undefined if the embedder fails, is too slow or is in its cooldown. */
  async embedQuestion(texts: readonly string[]): Promise<QuestionVectors | undefined> {
    const { embedder } = this.#parts;
    if (this.#coolingDown()) return undefined;
    const missing = [...new Set(texts)].filter((text) => !this.#recent.has(text));
    try {
      const vectors = missing.length > 0 ? await embedder.embed(missing, embedder.timeoutMs) : [];
      for (const [i, text] of missing.entries()) this.#recent.set(text, vectors[i] as Float32Array);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    const found = new Map(texts.map((text) => [text, this.#recent.get(text) as Float32Array]));
    for (const text of this.#recent.keys()) if (this.#recent.size > MAX_RECENT) this.#recent.delete(text);
    return found;
  }

  /**
   * Undefined while a tool has no vector yet, since one ranking must not mix built-in and embedder vectors.
   */
  spaceFor(vectors: QuestionVectors, builtIn: VectorSpace | undefined): VectorSpace | undefined {
    for (const server of this.#collection.servers) {
      if (this.#embedded.has(server)) continue;
      void this.#embedMissing();
      return undefined;
    }
    const matrix = this.#matrix;
    if ([...vectors.values()].some((vector) => vector.length !== matrix.dims)) return undefined;
    return {
      matrix,
      subtractMean: true,
      vectorOf: ({ text }) => vectors.get(text),
      isWord: (word) => builtIn?.isWord(word) ?? true,
    };
  }

  async #embedMissing(): Promise<void> {
    if (this.#running || this.#coolingDown()) return;
    this.#running = true;
    try {
      for (let next = this.#nextServer(); next; next = this.#nextServer()) await this.#embedServer(next);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#running = false;
    }
  }

  #nextServer(): IndexedServer | undefined {
    for (const server of this.#collection.servers) if (!this.#embedded.has(server)) return server;
    return undefined;
  }

  async #embedServer(server: IndexedServer): Promise<void> {
    const { embedder, cache } = this.#parts;
    const tools = (this.#tools.get(server.segment.server) ?? []).slice(0, server.slots.length);
    const texts = tools.map(textFor);
    const rows = await Promise.all(texts.map(async (text) => await cache.get(text)));
    const missing = texts.flatMap((_, i) => (rows[i] ? [] : [i]));
    for (let from = 0; from < missing.length; from += BATCH) {
      const batch = missing.slice(from, from + BATCH);
      const vectors = await embedder.embed(
        batch.map((i) => texts[i] as string),
        BATCH_TIMEOUT_MS,
      );
      for (const [k, i] of batch.entries()) {
        rows[i] = await cache.put(texts[i] as string, vectors[k] as Float32Array);
      }
    }
    // The cached rows come from another model with the same name. `put` has cleared the cache, so the next
    // attempt embeds them again.
    if (rows.some((row) => row?.length !== rows[0]?.length))
      throw new Error("the embedder's vectors differ in length");
    if (missing.length > 0) await cache.save().catch((error: unknown) => this.#notSaved(error));
    this.#store(server, rows as Int8Array[]);
  }

  #store(server: IndexedServer, rows: readonly Int8Array[]): void {
    const dims = rows[0]?.length ?? this.#matrix.dims;
    if (dims !== this.#matrix.dims) {
      this.#matrix = new Matrix(dims);
      this.#embedded = new WeakSet();
    }
    // An update may have given its slots to other tools in the meantime. Then the newer list is embedded
    // next.
    if (this.#collection.at(server.slots[0] as number) === server) {
      this.#matrix.grow(this.#collection.capacity);
      for (const [i, row] of rows.entries()) this.#matrix.set(server.slots[i] as number, row);
    }
    this.#embedded.add(server);
  }

  #coolingDown(): boolean {
    return this.#parts.clock.now() < this.#retryAt;
  }

  /** Search goes on: only the next start has to embed the same tools again. */
  #notSaved(error: unknown): void {
    this.#parts.log.warn("vectors of the embedder cannot be kept", { error });
  }

  #failed(error: unknown): void {
    this.#retryAt = this.#parts.clock.now() + COOLDOWN_MS;
    const reason = error instanceof Error ? error.message : "unknown";
    this.#parts.log.warn("embedder failed, built-in search answers", { reason });
  }
}

function textFor(tool: Tool): string {
  const { name, title, description, parameters } = textOf(tool);
  return `${tool.server} ${name}\n${title}\n${description}\n${parameters}`.slice(0, MAX_TEXT_LENGTH);
}
