/** The thread that converts one YAML document to JSON. The parser cannot be interrupted, but a thread can be ended. */
import { parentPort, workerData } from "node:worker_threads";
import { LineCounter, parseDocument } from "yaml";
import { REPEATED_KEY, repeatedKeyIn } from "./repeated-yaml-key.ts";

export type Converted = { readonly json: string } | { readonly error: string };

const MAX_ALIASES = 100;

async function convert(text: string): Promise<Converted> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const [error] = document.errors;
  if (error) return { error: error.message };
  const repeated = await repeatedKeyIn(document.contents);
  if (repeated !== undefined) {
    const { line, col } = lines.linePos(repeated);
    return { error: `${REPEATED_KEY} at line ${line}, column ${col}` };
  }
  return { json: JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES }) ?? null) };
}

try {
  parentPort?.postMessage(await convert(workerData as string));
} catch (error) {
  parentPort?.postMessage({ error: (error as Error).message } satisfies Converted);
}
