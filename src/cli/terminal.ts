/** Questions to the person at the terminal, line by line, on stderr: stdout belongs to what a command answers. */
import { createInterface } from "node:readline/promises";
import type { Terminal } from "./first-run.ts";

export function openTerminal(): Terminal {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close it, and then no answer comes.
  const left = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  return {
    say: (text) => void process.stderr.write(`${text}\n`),
    ask: async (question) => await Promise.race([lines.question(question), left]),
    close: () => lines.close(),
  };
}
