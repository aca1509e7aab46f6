/** A yes or no of the person at the terminal. */
import { createInterface } from "node:readline/promises";
import { hushSpinner } from "./spinner.ts";

/** Whether there is anybody to ask. */
export const canAsk = Boolean(process.stdin.isTTY && process.stderr.isTTY);

/** Anything but a yes is a no. */
export async function confirmed(question: string): Promise<boolean> {
  const goOn = hushSpinner();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Who wants out wants no further question.
  terminal.once("SIGINT", () => {
    process.stdin.setRawMode(false);
    process.kill(process.pid, "SIGINT");
  });
  // Ctrl-D closes it, and then no answer comes.
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return /^\s*y(es)?\s*$/i.test(await Promise.race([terminal.question(`${question} [y/N] `), left]));
  } finally {
    terminal.close();
    goOn();
  }
}
