/** Reads a secret: from a terminal without showing it, else as the first line of stdin. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { canAsk } from "./confirm.ts";
import { printError } from "./print.ts";

/** Prints nothing, so that what is typed does not appear. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Rejects if stdin ends before a line. */
export async function askSecret(question: string): Promise<string> {
  if (canAsk) printError(`${question} (it is not shown):`);
  const lines = createInterface({
    input: process.stdin,
    ...(canAsk && { output: nowhere(), terminal: true }),
  });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
  }
  throw new Error(`${question}: write it to stdin as one line, or run this on a terminal.`);
}
