/** Questions to the person at the terminal, line by line, on stderr: stdout belongs to what a command answers. */
import { createInterface } from "node:readline";
import type { Terminal } from "./first-run.ts";
import { wrap } from "./wrap.ts";

export function openTerminal(): Terminal {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Who types ahead of a question is heard all the same.
  const typed: string[] = [];
  let answer: ((line: string | undefined) => void) | undefined;
  let left = false;
  lines.on("line", (line) => {
    if (answer) answer(line);
    else typed.push(line);
    answer = undefined;
  });
  // Ctrl-C and Ctrl-D close it, and then no answer comes.
  lines.once("close", () => {
    left = true;
    answer?.(undefined);
  });
  return {
    say: (text) => void process.stderr.write(`${wrap(text, process.stderr.columns)}\n`),
    async ask(question) {
      if (left) return undefined;
      lines.setPrompt(question);
      lines.prompt();
      return typed.shift() ?? (await new Promise((resolve) => (answer = resolve)));
    },
    close: () => lines.close(),
  };
}
