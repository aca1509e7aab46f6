/** All servers' segments under one set of postings. Knows which tools exist and how strongly each holds a term; ranks nothing. */
import type { ServerId } from "../../kernel/call.ts";
import { Lexicon } from "./lexicon.ts";
import { MOST_SLOTS, Postings } from "./postings.ts";
import {
  buildSegment,
  fieldEnd,
  fieldStart,
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
    this.remove(source.server);
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

  remove(server: ServerId): void {
    const placed = this.#servers.get(server);
    if (!placed) return;
    this.#servers.delete(server);
    const gone = new Uint8Array(this.#placed.length);
    for (const slot of placed.slots) {
      gone[slot] = 1;
      this.#placed[slot] = undefined;
      this.#free.push(slot);
    }
    const { words, serverWords, serverTextWords } = placed.segment;
    const terms = new Set<number>();
    for (const list of [words, serverWords, serverTextWords]) {
      for (const word of list) terms.add(this.lexicon.termOf(word));
    }
    for (const term of terms) this.postings.remove(term, gone);
    this.#size -= placed.slots.length;
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
    const left = `${this.at(a)?.segment.server}:${this.nameOf(a)}`;
    const right = `${this.at(b)?.segment.server}:${this.nameOf(b)}`;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  nameOf(slot: number): string {
    return this.#placed[slot]?.segment.names[this.indexOf(slot)] ?? "";
  }
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
