/** Shows on a terminal that something is under way; silent elsewhere, and gone without a trace when it is done. */

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export interface Spinner {
  text: string;
  stop(): void;
}

let current: Spinner | undefined;

/** Something else wants the terminal. */
export function hushSpinner(): void {
  current?.stop();
}

export function spin(text: string): Spinner {
  if (!process.stderr.isTTY) return { text, stop() {} };
  let frame = 0;
  const spinner = {
    text,
    stop() {
      clearInterval(timer);
      process.stderr.write("\r\x1b[K");
    },
  };
  // Nothing is shown for what takes under a moment.
  const timer = setInterval(() => {
    if (frame++ > 4) process.stderr.write(`\r\x1b[K${FRAMES[frame % FRAMES.length]} ${spinner.text}`);
  }, 80);
  current = spinner;
  return spinner;
}
