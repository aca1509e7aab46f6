/** Reads and writes documents as YAML or JSON text. The parser is loaded on first use. */
import type { Node } from "yaml";
import type { FieldProblem } from "../../kernel/field-problem.ts";
import { invalid } from "../refusal.ts";
import { REPEATED_KEY, repeatedKeyIn } from "./repeated-yaml-key.ts";

export interface TextDocument {
  readonly value: unknown;
  /** Formats problems with the value: one line each, with the line number in the document. */
  readonly problemText: (problems: readonly FieldProblem[]) => string;
}

/** JSON is valid YAML. Throws a Refusal with line and column. */
export async function readText(text: string): Promise<TextDocument> {
  const { LineCounter, isMap, isScalar, isSeq, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    const message = error.message.split(/ at line \d+/, 1)[0] ?? "cannot be read";
    throw invalid([{ path: "", message: `line ${line}, column ${col}: ${message}` }]);
  }
  const repeated = await repeatedKeyIn(document.contents);
  if (repeated !== undefined) {
    const { line, col } = lines.linePos(repeated);
    throw invalid([{ path: "", message: `line ${line}, column ${col}: ${REPEATED_KEY}` }]);
  }
  /** The node of a key or element, and its value. */
  const step = (from: unknown, name: string): { at: Node; value: unknown } | undefined => {
    if (isSeq(from)) {
      const item = from.items[Number(name)] as Node | undefined;
      return item && { at: item, value: item };
    }
    const pair = isMap(from)
      ? from.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      : undefined;
    return pair && { at: pair.key as Node, value: pair.value };
  };
  /** For a missing member: the line of its parent. */
  const lineOf = (path: string): number => {
    let at = 0;
    let value: unknown = document.contents;
    for (const name of namesIn(path)) {
      const found = step(value, name);
      if (!found) break;
      at = found.at.range?.[0] ?? at;
      ({ value } = found);
    }
    return lines.linePos(at).line;
  };
  return {
    value: readValue(() => document.toJS() as unknown),
    problemText: (problems) =>
      problems
        .map(({ path, message }) => `line ${lineOf(path)}: ${path === "" ? "" : `${path} `}${message}`)
        .join("\n"),
  };
}

/** The parts of a JSON Pointer. */
function namesIn(path: string): readonly string[] {
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Too many aliases are detected only when the value is built. */
function readValue(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw invalid([{ path: "", message: (error as Error).message }]);
  }
}
