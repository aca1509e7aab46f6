/**
 * The tools of one server as word ids, field by field. Immutable; keeps no texts except the names of the
 * tools.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import { actionsOf, actionsOfName } from "./actions.ts";
import { textOf } from "./fields.ts";
import type { Lexicon } from "./lexicon.ts";
import type { ServerText } from "./strategy.ts";
import { contentWords, words } from "./words.ts";

/** The searched fields of a tool, in their order in a segment. */
export const TOOL_FIELDS = ["name", "title", "description", "parameters", "parameterTexts"] as const;

export interface Segment {
  readonly server: ServerId;
  readonly names: readonly string[];
  /**
   * The words of each name without spaces between them, to compare names regardless of how they are written.
   */
  readonly compactNames: readonly string[];
  readonly compactServer: string;
  /** The word ids of all tools, one after the other. */
  readonly words: Int32Array;
  /** Where each field of each tool ends in `words`: all fields of the first tool, then of the next. */
  readonly ends: Int32Array;
  /** The kinds of action of each tool, as a bit mask. */
  readonly actions: Uint32Array;
  /** 1 for tools whose texts say that they are deprecated. */
  readonly deprecated: Uint8Array;
  readonly serverWords: Int32Array;
  readonly serverTextWords: Int32Array;
}

const DEPRECATED = /\bdeprecated\b/i;
const MAX_SERVER_TEXT = 1_000;
/** New words that one server may add to the lexicon, so that no server can fill it. */
const MAX_NEW_WORDS = 50_000;

export interface ServerTools {
  readonly server: ServerId;
  readonly tools: readonly Tool[];
  readonly text: ServerText;
}

/** Yields the cost of each tool, in characters read. The lexicon keeps the words until `release`. */
export function* buildSegment(source: ServerTools, lexicon: Lexicon): Generator<number, Segment> {
  const { server, tools, text } = source;
  const interner = new Interner(lexicon);
  const all: number[] = [];
  const ends = new Int32Array(tools.length * TOOL_FIELDS.length);
  const actions = new Uint32Array(tools.length);
  const compactNames: string[] = [];
  const deprecated = new Uint8Array(tools.length);
  for (const [i, tool] of tools.entries()) {
    const fields = textOf(tool);
    let cost = tool.inputSchema.length;
    for (const [f, field] of TOOL_FIELDS.entries()) {
      interner.addTo(all, fields[field]);
      ends[i * TOOL_FIELDS.length + f] = all.length;
      cost += fields[field].length;
    }
    const nameWords = words(fields.name);
    compactNames.push(nameWords.join(""));
    actions[i] = actionsOfName(nameWords) || actionsOf(words(fields.description.slice(0, 80))[0] ?? "");
    if (DEPRECATED.test(fields.title) || DEPRECATED.test(fields.description.slice(0, 500))) deprecated[i] = 1;
    yield cost;
  }
  return {
    server,
    names: tools.map((tool) => tool.name),
    compactNames,
    compactServer: words(text.name ?? server).join(""),
    words: new Int32Array(all),
    ends,
    actions,
    deprecated,
    serverWords: interner.idsOf(`${text.name ?? server} ${text.title ?? ""}`),
    serverTextWords: interner.idsOf(text.description ?? ""),
  };
}

/** Tells the lexicon that the segment does not use its words any more. */
export function release(segment: Segment, lexicon: Lexicon): void {
  for (const list of wordListsOf(segment)) lexicon.release(list);
}

/** All words of the segment: those of the tools and of the server. */
export function wordListsOf({ words: own, serverWords, serverTextWords }: Segment): readonly Int32Array[] {
  return [own, serverWords, serverTextWords];
}

/** Turns words into ids and adds new ones to the lexicon, at most `MAX_NEW_WORDS`. */
class Interner {
  readonly #lexicon: Lexicon;
  readonly #maxSize: number;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
    this.#maxSize = lexicon.size + MAX_NEW_WORDS;
  }

  addTo(out: number[], text: string): void {
    for (const word of contentWords(text)) {
      const id = this.#lexicon.intern(word, this.#maxSize - this.#lexicon.size);
      if (id !== undefined) out.push(id);
    }
  }

  idsOf(text: string): Int32Array {
    const out: number[] = [];
    this.addTo(out, text.slice(0, MAX_SERVER_TEXT));
    return new Int32Array(out);
  }
}

/** Where field `f` of tool `i` begins in `words`. */
export function fieldStart(segment: Segment, i: number, f: number): number {
  const at = i * TOOL_FIELDS.length + f;
  return at === 0 ? 0 : (segment.ends[at - 1] ?? 0);
}

export function fieldEnd(segment: Segment, i: number, f: number): number {
  return segment.ends[i * TOOL_FIELDS.length + f] ?? 0;
}
