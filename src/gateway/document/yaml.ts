/** Documents as text. The parser is loaded when one is first read or written. */
import { invalid } from "../refusal.ts";

/** YAML, or JSON, which is YAML too. Throws a Refusal with line and column. */
export async function parseText(text: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const [error] = document.errors;
  if (!error) return readValue(() => document.toJS() as unknown);
  const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
  const message = error.message.split(/ at line \d+/, 1)[0] ?? "cannot be read";
  throw invalid([{ path: "", message: `line ${line}, column ${col}: ${message}` }]);
}

/** Aliases that multiply beyond measure are found only here. */
function readValue(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw invalid([{ path: "", message: (error as Error).message }]);
  }
}

export async function writeYaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value);
}
