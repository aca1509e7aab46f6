/** One server's tools as numbered words, field by field. Immutable once built; holds no texts but the tools' names. */
import type { ServerId } from "../../kernel/call.ts";
import type { Tool } from "../tool.ts";
import { actionsOf } from "./actions.ts";
import { textOf } from "./fields.ts";
import type { Lexicon } from "./lexicon.ts";
import type { ServerText } from "./strategy.ts";
import { contentWords, words } from "./words.ts";

/** The fields every tool has for itself, in the order they lie in a segment. */
export const TOOL_FIELDS = ["name", "title", "description", "parameters", "parameterTexts"] as const;

export interface Segment {
  readonly server: ServerId;
  readonly names: readonly string[];
  /** The names as their words without a space, to be recognised however they are written. */
  readonly plainNames: readonly string[];
  readonly plainServer: string;
  /** All tools' words, end to end. */
  readonly words: Int32Array;
  /** Where each field of each tool ends in `words`; tool by tool. */
  readonly ends: Int32Array;
  /** One bit per class of action, per tool. */
  readonly actions: Uint16Array;
  /** 1 for tools that say they are deprecated. */
  readonly deprecated: Uint8Array;
  readonly serverWords: Int32Array;
  readonly serverTextWords: Int32Array;
}

const DEPRECATED = /\bdeprecated\b/i;
const LONGEST_SERVER_TEXT = 1_000;
/** Words that one server may be the first to use: no flood of them keeps the words of others out. */
const MOST_NEW_WORDS = 50_000;

export interface ServerTools {
  readonly server: ServerId;
  readonly tools: readonly Tool[];
  readonly text: ServerText;
}

/** Yields what it did since it last yielded, in characters read. Its words are in use until `release`. */
export function* buildSegment(source: ServerTools, lexicon: Lexicon): Generator<number, Segment> {
  const { server, tools, text } = source;
  const reader = new Reader(lexicon);
  const all: number[] = [];
  const ends = new Int32Array(tools.length * TOOL_FIELDS.length);
  const actions = new Uint16Array(tools.length);
  const plainNames: string[] = [];
  const deprecated = new Uint8Array(tools.length);
  for (const [i, tool] of tools.entries()) {
    const fields = textOf(tool);
    let cost = tool.inputSchema.length;
    for (const [f, field] of TOOL_FIELDS.entries()) {
      reader.read(fields[field], all);
      ends[i * TOOL_FIELDS.length + f] = all.length;
      cost += fields[field].length;
    }
    const nameWords = words(fields.name);
    plainNames.push(nameWords.join(""));
    actions[i] = actionsOf([...nameWords, ...words(fields.description.slice(0, 80)).slice(0, 2)]);
    if (DEPRECATED.test(fields.title) || DEPRECATED.test(fields.description.slice(0, 500))) deprecated[i] = 1;
    yield cost;
  }
  return {
    server,
    names: tools.map((tool) => tool.name),
    plainNames,
    plainServer: words(text.name ?? server).join(""),
    words: new Int32Array(all),
    ends,
    actions,
    deprecated,
    serverWords: reader.numbered(`${text.name ?? server} ${text.title ?? ""}`),
    serverTextWords: reader.numbered(text.description ?? ""),
  };
}

/** What a segment uses of the lexicon is given back. */
export function release(segment: Segment, lexicon: Lexicon): void {
  for (const list of listsOf(segment)) lexicon.release(list);
}

/** All words of the segment, the tools' own and the server's. */
export function listsOf({ words: own, serverWords, serverTextWords }: Segment): readonly Int32Array[] {
  return [own, serverWords, serverTextWords];
}

/** Numbers words, few of them new. */
class Reader {
  readonly #lexicon: Lexicon;
  readonly #most: number;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
    this.#most = lexicon.size + MOST_NEW_WORDS;
  }

  read(text: string, out: number[]): void {
    for (const word of contentWords(text)) {
      const id = this.#lexicon.intern(word, this.#most - this.#lexicon.size);
      if (id !== undefined) out.push(id);
    }
  }

  numbered(text: string): Int32Array {
    const out: number[] = [];
    this.read(text.slice(0, LONGEST_SERVER_TEXT), out);
    return new Int32Array(out);
  }
}

/** Where field `f` of tool `i` lies in `words`. */
export function fieldStart(segment: Segment, i: number, f: number): number {
  const at = i * TOOL_FIELDS.length + f;
  return at === 0 ? 0 : (segment.ends[at - 1] ?? 0);
}

export function fieldEnd(segment: Segment, i: number, f: number): number {
  return segment.ends[i * TOOL_FIELDS.length + f] ?? 0;
}
