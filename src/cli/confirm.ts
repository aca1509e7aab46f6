/** Yes/no questions at the terminal. */
import { createInterface } from "node:readline/promises";
import { shown } from "./print.ts";
import { pauseSpinner } from "./spinner.ts";

/** Whether stdin and stderr are a terminal. */
export const canAsk = Boolean(process.stdin.isTTY && process.stderr.isTTY);

/** True only for y or yes. */
export async function confirmed(question: string): Promise<boolean> {
  const resumeSpinner = pauseSpinner();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C ends the whole command, not only this question.
  terminal.once("SIGINT", () => {
    process.stdin.setRawMode(false);
    process.kill(process.pid, "SIGINT");
  });
  // After Ctrl-D there is no answer.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return /^\s*y(es)?\s*$/i.test(
      await Promise.race([terminal.question(`${shown(question)} [y/N] `), closed]),
    );
  } finally {
    terminal.close();
    resumeSpinner();
  }
}
