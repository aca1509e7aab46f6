/** The text of a config file as a value: JSON, with comments and trailing commas. Knows where it stopped understanding. */
import type { Node, ParseError } from "jsonc-parser";

export interface Position {
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;
}

export type Parsed = { readonly value: unknown } | { readonly fault: string; readonly at: Position };

/** The parser for comments is loaded only for files that have them: start-up is measured. */
export async function parseText(written: string): Promise<Parsed> {
  // Some editors put a mark in front that is no part of the text.
  const text = written.replace(/^\uFEFF/, "");
  if (text.trim() === "") return { fault: "the file is empty", at: { line: 1, column: 1 } };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const { parseTree, printParseErrorCode } = await import("jsonc-parser");
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { allowTrailingComma: true });
    const [first] = errors;
    if (first) {
      const code = printParseErrorCode(first.error);
      return { fault: WORDS[code] ?? code, at: positionOf(text, first.offset) };
    }
    return { value: root ? toValue(root) : undefined };
  }
}

/** Where a top-level key stands, for a message about its value. */
export async function positionOfKey(written: string, key: string): Promise<Position> {
  const text = written.replace(/^\uFEFF/, "");
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  const root = parseTree(text, [], { allowTrailingComma: true });
  return positionOf(text, (root && findNodeAtLocation(root, [key])?.offset) ?? 0);
}

const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not a JSON value (text needs double quotes)",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "a key in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is expected here",
  CommaExpected: "a comma is expected here",
  CloseBraceExpected: 'the closing "}" is missing',
  CloseBracketExpected: 'the closing "]" is missing',
  EndOfFileExpected: "there is more text after the end of the value",
  UnexpectedEndOfComment: "a comment is not closed",
  UnexpectedEndOfString: "a text in quotes is not closed",
  UnexpectedEndOfNumber: "a number is incomplete",
  InvalidUnicode: "a \\u escape is not four hexadecimal digits",
  InvalidEscapeCharacter: 'a "\\" begins no known escape; write "\\\\" for a backslash',
  InvalidCharacter: "a text contains a control character; write it as an escape",
};

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** Not jsonc-parser's own conversion, which lets a key `__proto__` set the prototype. */
function toValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(toValue);
  if (node.type !== "object") return node.value;
  const entries = (node.children ?? []).map(({ children }) => [
    children?.[0]?.value as string,
    children?.[1] ? toValue(children[1]) : undefined,
  ]);
  return Object.fromEntries(entries);
}
