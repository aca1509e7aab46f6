/** All servers' segments under one set of postings. Knows which tools exist and how strongly each holds a term; ranks nothing. */
import type { ServerId } from "../../kernel/call.ts";
import { Lexicon } from "./lexicon.ts";
import { MOST_SLOTS, Postings } from "./postings.ts";
import {
  buildSegment,
  fieldEnd,
  fieldStart,
  listsOf,
  release,
  type Segment,
  type ServerTools,
  TOOL_FIELDS,
} from "./segment.ts";
import type { SearchSettings } from "./settings.ts";

/** A segment with the slots its tools have in the postings. */
export interface Placed {
  readonly segment: Segment;
  readonly slots: Int32Array;
}

/**
 * Lengths of typical fields. Fixed rather than averaged over the catalog: an average would let tools outside
 * a caller's scope move the scores inside it, and every update would touch every tool.
 */
const TYPICAL = {
  name: 2.5,
  title: 2.5,
  description: 14,
  parameters: 5,
  parameterTexts: 25,
  server: 2.5,
  serverText: 20,
} as const;
const NAME_B = 0.2;
/** Placing a term takes about as long as reading this many characters. */
const TERM_COST = 4;
/** And looking at one entry of a list this many. */
const ENTRY_COST = 0.03;

export class Collection {
  readonly lexicon = new Lexicon();
  readonly postings = new Postings();
  readonly #settings: SearchSettings;
  readonly #servers = new Map<ServerId, Placed>();
  readonly #free: number[] = [];
  readonly #placed: (Placed | undefined)[] = [];
  readonly #index: number[] = [];
  #size = 0;

  constructor(settings: SearchSettings) {
    this.#settings = settings;
  }

  /** Replaces what is known of a server. Yields what each step cost, so that the caller can pause in between. */
  *replace(source: ServerTools): Generator<number> {
    const before = this.#servers.get(source.server)?.slots.length ?? 0;
    const room = Math.min(this.#settings.maxDocs, MOST_SLOTS) - (this.#size - before);
    const tools = source.tools.length > room ? source.tools.slice(0, Math.max(0, room)) : source.tools;
    const segment = yield* buildSegment({ ...source, tools }, this.lexicon);
    yield* this.remove(source.server);
    const slots = new Int32Array(segment.names.length);
    const placed = { segment, slots };
    const terms = new TermSums(this.lexicon, this.#settings);
    for (let i = 0; i < slots.length; i++) {
      const slot = this.#free.pop() ?? this.#placed.length;
      slots[i] = slot;
      this.#placed[slot] = placed;
      this.#index[slot] = i;
      terms.read(segment, i);
      yield terms.flush((term, impact) => this.postings.add(term, slot, impact));
    }
    this.#servers.set(source.server, placed);
    this.#size += slots.length;
  }

  /** Like `replace`, in steps. */
  *remove(server: ServerId): Generator<number> {
    const placed = this.#servers.get(server);
    if (!placed) return;
    this.#servers.delete(server);
    const gone = new Uint8Array(this.#placed.length);
    for (const slot of placed.slots) {
      gone[slot] = 1;
      this.#placed[slot] = undefined;
      this.#free.push(slot);
    }
    this.#size -= placed.slots.length;
    const seen = new Uint8Array(this.lexicon.terms);
    for (const list of listsOf(placed.segment)) for (const word of list) seen[this.lexicon.termOf(word)] = 1;
    for (let term = 0; term < seen.length; term++) {
      if (seen[term] === 1) yield this.postings.remove(term, gone) * ENTRY_COST;
    }
    release(placed.segment, this.lexicon);
  }

  get servers(): Iterable<Placed> {
    return this.#servers.values();
  }

  /** Slots go from 0 up to this; some may be empty. */
  get capacity(): number {
    return this.#placed.length;
  }

  get size(): number {
    return this.#size;
  }

  at(slot: number): Placed | undefined {
    return this.#placed[slot];
  }

  /** The tool's place in its segment. */
  indexOf(slot: number): number {
    return this.#index[slot] ?? 0;
  }

  /** Order by tool id, for ties. */
  compareIds(a: number, b: number): number {
    const alike = this.#placed[a] === this.#placed[b];
    const left = alike ? this.nameOf(a) : `${this.at(a)?.segment.server}:${this.nameOf(a)}`;
    const right = alike ? this.nameOf(b) : `${this.at(b)?.segment.server}:${this.nameOf(b)}`;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  /** Whether a tool in view has this very word, not only one of its stem. */
  holds(word: number, mask: Uint8Array | undefined): boolean {
    return this.postings.some(this.lexicon.termOf(word), (slot) => {
      if (mask && mask[slot] !== 1) return false;
      return wordsOf(this, slot).some((list) => list.includes(word));
    });
  }

  nameOf(slot: number): string {
    return this.#placed[slot]?.segment.names[this.indexOf(slot)] ?? "";
  }
}

/** All words a tool is found by: its own and its server's. */
export function wordsOf(collection: Collection, slot: number): readonly Int32Array[] {
  const segment = collection.at(slot)?.segment;
  if (!segment) return [];
  const i = collection.indexOf(slot);
  const own = segment.words.subarray(fieldStart(segment, i, 0), fieldEnd(segment, i, TOOL_FIELDS.length - 1));
  return [own, segment.serverWords, segment.serverTextWords];
}

/** Gathers one tool's weighted term frequencies over all fields, saturated at the end. */
class TermSums {
  readonly #sums = new Map<number, number>();
  readonly #lexicon: Lexicon;
  readonly #settings: SearchSettings;

  constructor(lexicon: Lexicon, settings: SearchSettings) {
    this.#lexicon = lexicon;
    this.#settings = settings;
  }

  read(segment: Segment, i: number): void {
    for (const [f, field] of TOOL_FIELDS.entries()) {
      this.#add(field, segment.words.subarray(fieldStart(segment, i, f), fieldEnd(segment, i, f)));
    }
    this.#add("server", segment.serverWords);
    this.#add("serverText", segment.serverTextWords);
  }

  /** Hands over what was gathered and starts afresh; returns what that cost, in characters read. */
  flush(each: (term: number, impact: number) => void): number {
    const { k1 } = this.#settings;
    for (const [term, sum] of this.#sums) if (sum > 0) each(term, sum / (k1 + sum));
    const cost = this.#sums.size * TERM_COST;
    this.#sums.clear();
    return cost;
  }

  #add(field: keyof typeof TYPICAL, words: Int32Array): void {
    const b =
      field === "name" || field === "title" || field === "server"
        ? Math.min(NAME_B, this.#settings.b)
        : this.#settings.b;
    const weight = this.#settings.weights[field] / (1 - b + (b * words.length) / TYPICAL[field]);
    for (const word of words) {
      const term = this.#lexicon.termOf(word);
      this.#sums.set(term, (this.#sums.get(term) ?? 0) + weight);
    }
  }
}
