/** Meaning from an embedder the user configured. Never waited for by an update; where it fails or lags, the built-in meaning stands in. */
import type { ServerId } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Tool } from "../tool.ts";
import type { Collection, Placed } from "./collection.ts";
import type { Embedder } from "./embedder.ts";
import { textOf } from "./fields.ts";
import type { Sense } from "./ground.ts";
import { Matrix } from "./matrix.ts";
import type { VectorCache } from "./vector-cache.ts";

/** After a failure the embedder is left alone for this long. */
const COOLDOWN_MS = 30_000;
const BATCH = 64;
/** Reading tools in takes as long as it takes; a batch that hangs must end some time. */
const BATCH_TIMEOUT_MS = 60_000;
const LONGEST_TEXT = 2_000;
const RECENT = 200;

export interface Lender {
  readonly embedder: Embedder;
  readonly cache: VectorCache;
  readonly clock: Clock;
  readonly log: Log;
}

export class BorrowedMeaning {
  readonly #lender: Lender;
  readonly #collection: Collection;
  readonly #tools = new Map<ServerId, readonly Tool[]>();
  readonly #recent = new Map<string, Float32Array>();
  #known = new WeakSet<Placed>();
  #matrix = new Matrix(0);
  #filling = false;
  #restUntil = Number.NEGATIVE_INFINITY;

  constructor(lender: Lender, collection: Collection) {
    this.#lender = lender;
    this.#collection = collection;
  }

  /** To be called once the collection holds these tools. */
  learn(server: ServerId, tools: readonly Tool[]): void {
    this.#tools.set(server, tools);
    void this.#fill();
  }

  forget(server: ServerId): void {
    this.#tools.delete(server);
  }

  /** Vectors for a question's texts; undefined if they cannot be had in time. */
  async ask(texts: readonly string[]): Promise<ReadonlyMap<string, Float32Array> | undefined> {
    const { embedder } = this.#lender;
    if (this.#resting()) return undefined;
    const missing = [...new Set(texts)].filter((text) => !this.#recent.has(text));
    try {
      const vectors = missing.length > 0 ? await embedder.embed(missing, embedder.timeoutMs) : [];
      for (const [i, text] of missing.entries()) this.#recent.set(text, vectors[i] as Float32Array);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    const found = new Map(texts.map((text) => [text, this.#recent.get(text) as Float32Array]));
    for (const text of this.#recent.keys()) if (this.#recent.size > RECENT) this.#recent.delete(text);
    return found;
  }

  /** Undefined while a tool is not embedded yet: an answer is ranked by one kind of meaning. */
  senseOf(vectors: ReadonlyMap<string, Float32Array>, builtIn: Sense | undefined): Sense | undefined {
    for (const placed of this.#collection.servers) {
      if (this.#known.has(placed)) continue;
      void this.#fill();
      return undefined;
    }
    const matrix = this.#matrix;
    if ([...vectors.values()].some((vector) => vector.length !== matrix.dims)) return undefined;
    return {
      matrix,
      crowded: true,
      vectorOf: ({ text }) => vectors.get(text),
      isWord: (word) => builtIn?.isWord(word) ?? true,
    };
  }

  async #fill(): Promise<void> {
    if (this.#filling || this.#resting()) return;
    this.#filling = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) await this.#embed(next);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#filling = false;
    }
  }

  #next(): Placed | undefined {
    for (const placed of this.#collection.servers) if (!this.#known.has(placed)) return placed;
    return undefined;
  }

  async #embed(placed: Placed): Promise<void> {
    const { embedder, cache } = this.#lender;
    const tools = (this.#tools.get(placed.segment.server) ?? []).slice(0, placed.slots.length);
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
    // What was kept is of another model by the same name. It is forgotten by now, and asked for again later.
    if (rows.some((row) => row?.length !== rows[0]?.length))
      throw new Error("the embedder's vectors differ in length");
    if (missing.length > 0) await cache.save().catch((error: unknown) => this.#unsaved(error));
    this.#place(placed, rows as Int8Array[]);
  }

  #place(placed: Placed, rows: readonly Int8Array[]): void {
    const dims = rows[0]?.length ?? this.#matrix.dims;
    if (dims !== this.#matrix.dims) {
      this.#matrix = new Matrix(dims);
      this.#known = new WeakSet();
    }
    // Its slots may belong to other tools by now; then the newer list comes next.
    if (this.#collection.at(placed.slots[0] as number) === placed) {
      this.#matrix.grow(this.#collection.capacity);
      for (const [i, row] of rows.entries()) this.#matrix.set(placed.slots[i] as number, row);
    }
    this.#known.add(placed);
  }

  #resting(): boolean {
    return this.#lender.clock.now() < this.#restUntil;
  }

  /** Costs only the same questions to the embedder at the next start. */
  #unsaved(error: unknown): void {
    this.#lender.log.warn("vectors of the embedder cannot be kept", { error });
  }

  #failed(error: unknown): void {
    this.#restUntil = this.#lender.clock.now() + COOLDOWN_MS;
    const reason = error instanceof Error ? error.message : "unknown";
    this.#lender.log.warn("embedder failed, built-in search answers", { reason });
  }
}

function textFor(tool: Tool): string {
  const { name, title, description, parameters } = textOf(tool);
  return `${tool.server} ${name}\n${title}\n${description}\n${parameters}`.slice(0, LONGEST_TEXT);
}
