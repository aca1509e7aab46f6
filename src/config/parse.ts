/** Parses a config file: JSON with comments and trailing commas. A syntax error has its position. */
import type { Node, ParseError } from "jsonc-parser";

export interface Position {
  /** Line and column are counted from 1. */
  readonly line: number;
  readonly column: number;
}

export type Parsed = { readonly value: unknown } | { readonly fault: string; readonly at: Position };

/** Loads jsonc-parser only if the text is not plain JSON, because loading it slows the start. */
export async function parseText(written: string): Promise<Parsed> {
  // Some editors write a byte order mark.
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
      return { fault: MESSAGES[code] ?? code, at: positionOf(text, first.offset) };
    }
    return { value: root ? toValue(root) : undefined };
  }
}

/** The position of the value of a top-level key, for messages. */
export async function positionOfKey(written: string, key: string): Promise<Position> {
  const text = written.replace(/^\uFEFF/, "");
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  const root = parseTree(text, [], { allowTrailingComma: true });
  return positionOf(text, (root && findNodeAtLocation(root, [key])?.offset) ?? 0);
}

const MESSAGES: Readonly<Record<string, string>> = {
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

/** Replaces jsonc-parser's own conversion, which lets a key `__proto__` set the prototype. */
function toValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(toValue);
  if (node.type !== "object") return node.value;
  const entries = (node.children ?? []).map(({ children }) => [
    children?.[0]?.value as string,
    children?.[1] ? toValue(children[1]) : undefined,
  ]);
  return Object.fromEntries(entries);
}
