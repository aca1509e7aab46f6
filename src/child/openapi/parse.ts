/** Reads the text of a document: JSON, or YAML within limits. A fault names the line. */
import { LineCounter, parseDocument } from "yaml";
import { DocumentFault } from "./documents.ts";

const MAX_YAML = 16 * 1024 * 1024;
/** YAML can repeat a part of itself by a name, and parts of that part. */
const MAX_ALIASES = 1_000;

export function parseText(text: string, uri: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  // YAML would take most of it for text, and complain about any line.
  if (/^\s*</.test(plain))
    throw new TextFault("it is a web page or XML: write the address of the OpenAPI document", uri, 1, 1);
  return /^\s*[{[]/.test(plain) ? parseJson(plain, uri) : parseYaml(plain, uri);
}

/** A fault in the text of a document, which has no JSON Pointer yet. */
class TextFault extends DocumentFault {
  constructor(problem: string, uri: string, line: number, column: number) {
    super(problem, { uri, pointer: "" });
    this.message = `${problem} (line ${line}, column ${column} in ${uri})`;
  }
}

function parseJson(text: string, uri: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { message } = error as Error;
    const [, position] = /position (\d+)/.exec(message) ?? [];
    const before = text.slice(0, position === undefined ? text.length : Number(position)).split("\n");
    const problem = message.split(/ in JSON| \(line|, "/, 1)[0]?.slice(0, 120) ?? "";
    throw new TextFault(
      `it is not valid JSON: ${problem}`,
      uri,
      before.length,
      (before.at(-1)?.length ?? 0) + 1,
    );
  }
}

function parseYaml(text: string, uri: string): unknown {
  if (text.length > MAX_YAML)
    throw new DocumentFault(`YAML may have at most ${MAX_YAML} characters: use JSON`, { uri, pointer: "" });
  const lineCounter = new LineCounter();
  // Its check for repeated keys compares all of them with each other, which takes minutes for a long map.
  const document = parseDocument(text, { lineCounter, uniqueKeys: false, merge: true });
  const [error] = document.errors;
  if (error) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    const problem = error.message.split(/ at line \d+/, 1)[0] ?? "it cannot be read";
    throw new TextFault(`it is not valid YAML: ${problem}`, uri, line, col);
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch {
    throw new DocumentFault("its YAML repeats parts of itself too often", { uri, pointer: "" });
  }
}
