/** Shows a stored result as lines: the lines of its text, else its JSON with a line for each part. */
import type { Raw } from "../../kernel/raw.ts";
import { textAt } from "../../rpc/slice.ts";
import { endOfString } from "../../rpc/value-end.ts";
import { jsonIn } from "./json-text.ts";
import { soleText } from "./sole-text.ts";
import { partsOf } from "./value.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const [BRACE, CLOSING_BRACE] = [0x7b, 0x7d];
const [BRACKET, CLOSING_BRACKET] = [0x5b, 0x5d];
const LONGEST_LINE = 1_000;

export function linesOf(result: Raw): readonly string[] {
  const text = soleText(result);
  if (text) return textLines(textAt(text, 0));
  const { value } = partsOf(result);
  return value[0] === QUOTE ? textLines(textAt(value, 0)) : jsonLines(value);
}

/** A single long line of JSON is split into a line for each part. */
export function textLines(text: string): readonly string[] {
  const lines = text.split("\n");
  const json = lines.length === 1 && text.length > LONGEST_LINE ? jsonIn(text) : undefined;
  return json ? jsonLines(json) : lines;
}

/** Keeps every token as written. */
export function jsonLines(json: Raw): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  let depth = 0;
  const end = (to: number): void => {
    const text = json.toString("utf8", from, to).trim();
    if (text !== "") lines.push(" ".repeat(depth) + text);
    from = to;
  };
  for (let at = 0; at < json.length; at++) {
    const c = json[at];
    if (c === QUOTE) at = endOfString(json, at) - 1;
    else if (c === COMMA) end(at + 1);
    else if (c === BRACE || c === BRACKET) {
      end(at + 1);
      depth++;
    } else if (c === CLOSING_BRACE || c === CLOSING_BRACKET) {
      end(at);
      depth--;
    }
  }
  end(json.length);
  return lines;
}

export interface LineQuery {
  readonly find?: string | undefined;
  /** First line, from 1. */
  readonly from?: number | undefined;
  /** Number of lines. */
  readonly lines?: number | undefined;
}

const MAX_FOUND = 50;
const MAX_LINES = 500;
/** Limit of all lines together, in characters. */
const LONGEST_SELECTION = 24_000;

/** Returns lines with their numbers, and how to continue. */
export function selectLines(lines: readonly string[], { find, from = 1, lines: most }: LineQuery): string {
  const room = Math.min(most ?? (find === undefined ? MAX_LINES : MAX_FOUND), MAX_LINES);
  const wanted = find?.toLowerCase();
  const shown: string[] = [];
  let length = 0;
  let at = from - 1;
  for (; at < lines.length && shown.length < room && length < LONGEST_SELECTION; at++) {
    const line = lines[at] as string;
    const found = wanted === undefined ? 0 : line.toLowerCase().indexOf(wanted);
    if (found < 0) continue;
    const text = `${at + 1}: ${cut(line, found)}`;
    shown.push(text);
    length += text.length;
  }
  const all = `${lines.length.toLocaleString("en")} lines in total.`;
  const what = `${find === undefined ? "" : "matching "}line${shown.length === 1 ? "" : "s"}`;
  const count = `${shown.length} ${what} shown, ${all}`;
  const more = at < lines.length ? ` Continue with from: ${at + 1}.` : "";
  return [...shown, `(${count}${more})`].join("\n");
}

/** Cuts a long line around the match. */
function cut(line: string, found: number): string {
  if (line.length <= LONGEST_LINE) return line;
  const start = Math.max(0, Math.min(found - 200, line.length - LONGEST_LINE));
  const part = line.slice(start, start + LONGEST_LINE);
  return `${start > 0 ? "…" : ""}${part}… (${line.length.toLocaleString("en")} characters)`;
}
