/**
 * Questions at the terminal, line by line. Writes to stderr, because stdout is for the result of a command.
 */
import { createInterface } from "node:readline";
import type { Terminal } from "./first-run.ts";
import { printError, shown } from "./print.ts";
import { wrap } from "./wrap.ts";

export function openTerminal(): Terminal {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Lines that were typed before a question count as its answer.
  const typed: string[] = [];
  let answer: ((line: string | undefined) => void) | undefined;
  let closed = false;
  lines.on("line", (line) => {
    if (answer) answer(line);
    else typed.push(line);
    answer = undefined;
  });
  // After Ctrl-C or Ctrl-D there is no answer.
  lines.once("close", () => {
    closed = true;
    answer?.(undefined);
  });
  return {
    say: (text) => printError(wrap(text, process.stderr.columns)),
    async ask(question) {
      if (closed) return undefined;
      lines.setPrompt(shown(question));
      lines.prompt();
      return typed.shift() ?? (await new Promise((resolve) => (answer = resolve)));
    },
    close: () => lines.close(),
  };
}
