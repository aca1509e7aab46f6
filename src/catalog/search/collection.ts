/**
 * The index of all tools: one segment per server, and postings over all of them. Knows how much of a term
 * each tool contains; does not rank.
 */
import type { ServerId } from "../../kernel/call.ts";
import { Lexicon } from "./lexicon.ts";
import { MAX_SLOTS, Postings } from "./postings.ts";
import {
  buildSegment,
  fieldEnd,
  fieldStart,
  release,
  type Segment,
  type ServerTools,
  TOOL_FIELDS,
  wordListsOf,
} from "./segment.ts";
import type { SearchSettings } from "./settings.ts";

/** A server in the index. */
export interface IndexedServer {
  readonly segment: Segment;
  /**
   * The slot of each of its tools. A slot is the number of a tool in postings, vectors and arrays of scores.
   * Slots of removed tools are reused.
   */
  readonly slots: Int32Array;
}

/**
 * Typical number of words in each field. Constants, because with the mean of the catalog hidden tools would
 * change the scores of visible ones, and each update would have to change all postings.
 */
const TYPICAL_LENGTH = {
  name: 2.5,
  title: 2.5,
  description: 14,
  parameters: 5,
  parameterTexts: 25,
  server: 2.5,
  serverText: 20,
} as const;
/** Length normalization of names. */
const NAME_B = 0.2;
/** Adding a posting takes about as long as reading this many characters. */
const TERM_COST = 4;
/** Checking one entry of a list when postings are removed takes as long as reading this many characters. */
const ENTRY_COST = 0.03;

export class Collection {
  readonly lexicon = new Lexicon();
  readonly postings = new Postings();
  readonly #settings: SearchSettings;
  readonly #servers = new Map<ServerId, IndexedServer>();
  readonly #freeSlots: number[] = [];
  /** By slot: the server, and the index of the tool in its segment. */
  readonly #serverAt: (IndexedServer | undefined)[] = [];
  readonly #indexAt: number[] = [];
  #size = 0;

  constructor(settings: SearchSettings) {
    this.#settings = settings;
  }

  /**
   * Replaces all tools of a server. Yields the cost of each step, in characters read, so that the caller can
   * pause in between.
   */
  *replace(source: ServerTools): Generator<number> {
    const before = this.#servers.get(source.server)?.slots.length ?? 0;
    const room = Math.min(this.#settings.maxDocs, MAX_SLOTS) - (this.#size - before);
    const tools = source.tools.length > room ? source.tools.slice(0, Math.max(0, room)) : source.tools;
    const segment = yield* buildSegment({ ...source, tools }, this.lexicon);
    yield* this.remove(source.server);
    const slots = new Int32Array(segment.names.length);
    const indexed = { segment, slots };
    const frequencies = new TermFrequencies(this.lexicon, this.#settings);
    for (let i = 0; i < slots.length; i++) {
      const slot = this.#freeSlots.pop() ?? this.#serverAt.length;
      slots[i] = slot;
      this.#serverAt[slot] = indexed;
      this.#indexAt[slot] = i;
      frequencies.add(segment, i);
      yield frequencies.flush((term, impact) => this.postings.add(term, slot, impact));
    }
    this.#servers.set(source.server, indexed);
    this.#size += slots.length;
  }

  /** Yields the cost of each step, like `replace`. */
  *remove(server: ServerId): Generator<number> {
    const indexed = this.#servers.get(server);
    if (!indexed) return;
    this.#servers.delete(server);
    const removed = new Uint8Array(this.#serverAt.length);
    for (const slot of indexed.slots) {
      removed[slot] = 1;
      this.#serverAt[slot] = undefined;
      this.#freeSlots.push(slot);
    }
    this.#size -= indexed.slots.length;
    const seen = new Uint8Array(this.lexicon.termCapacity);
    for (const list of wordListsOf(indexed.segment))
      for (const word of list) seen[this.lexicon.termOf(word)] = 1;
    for (let term = 0; term < seen.length; term++) {
      if (seen[term] === 1) yield this.postings.remove(term, removed) * ENTRY_COST;
    }
    release(indexed.segment, this.lexicon);
  }

  get servers(): Iterable<IndexedServer> {
    return this.#servers.values();
  }

  /** All slots are below this number. Some may be empty. */
  get capacity(): number {
    return this.#serverAt.length;
  }

  /** How many tools are indexed. */
  get size(): number {
    return this.#size;
  }

  at(slot: number): IndexedServer | undefined {
    return this.#serverAt[slot];
  }

  /** The index of the tool in its segment. */
  indexOf(slot: number): number {
    return this.#indexAt[slot] ?? 0;
  }

  /** Orders tools with equal scores by their ids. */
  compareIds(a: number, b: number): number {
    const sameServer = this.#serverAt[a] === this.#serverAt[b];
    const left = sameServer ? this.nameOf(a) : `${this.at(a)?.segment.server}:${this.nameOf(a)}`;
    const right = sameServer ? this.nameOf(b) : `${this.at(b)?.segment.server}:${this.nameOf(b)}`;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  /** Whether a tool in view has exactly this word. A word with the same stem does not count. */
  hasWord(word: number, mask: Uint8Array | undefined): boolean {
    return this.postings.some(this.lexicon.termOf(word), (slot) => {
      if (mask && mask[slot] !== 1) return false;
      return wordsOf(this, slot).some((list) => list.includes(word));
    });
  }

  nameOf(slot: number): string {
    return this.#serverAt[slot]?.segment.names[this.indexOf(slot)] ?? "";
  }
}

/** All words that a tool can be found by: its own and those of its server. */
export function wordsOf(collection: Collection, slot: number): readonly Int32Array[] {
  const segment = collection.at(slot)?.segment;
  if (!segment) return [];
  const i = collection.indexOf(slot);
  const own = segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, TOOL_FIELDS.length - 1));
  return [own, segment.serverWords, segment.serverTextWords];
}

/** Sums the term frequencies of one tool over all fields, by weight and length of the field (BM25F). */
class TermFrequencies {
  readonly #sums = new Map<number, number>();
  readonly #lexicon: Lexicon;
  readonly #settings: SearchSettings;

  constructor(lexicon: Lexicon, settings: SearchSettings) {
    this.#lexicon = lexicon;
    this.#settings = settings;
  }

  add(segment: Segment, i: number): void {
    for (const [f, field] of TOOL_FIELDS.entries()) {
      this.#addField(field, segment.words.subarray(fieldStart(segment, i, f), fieldEnd(segment, i, f)));
    }
    this.#addField("server", segment.serverWords);
    this.#addField("serverText", segment.serverTextWords);
  }

  /**
   * Passes the saturated frequency of each term to `each` and starts again. Returns the cost, in characters
   * read.
   */
  flush(each: (term: number, impact: number) => void): number {
    const { k1 } = this.#settings;
    for (const [term, sum] of this.#sums) if (sum > 0) each(term, sum / (k1 + sum));
    const cost = this.#sums.size * TERM_COST;
    this.#sums.clear();
    return cost;
  }

  #addField(field: keyof typeof TYPICAL_LENGTH, words: Int32Array): void {
    const b =
      field === "name" || field === "title" || field === "server"
        ? Math.min(NAME_B, this.#settings.b)
        : this.#settings.b;
    const weight = this.#settings.weights[field] / (1 - b + (b * words.length) / TYPICAL_LENGTH[field]);
    for (const word of words) {
      const term = this.#lexicon.termOf(word);
      this.#sums.set(term, (this.#sums.get(term) ?? 0) + weight);
    }
  }
}
