/** Shows on a terminal that something is under way; silent elsewhere, and gone without a trace when it is done. */

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export interface Spinner {
  text: string;
  stop(): void;
}

let spinning = false;
let hushed = false;

/** Something else wants the terminal, until what is returned is called. */
export function hushSpinner(): () => void {
  hushed = true;
  if (spinning) clearLine();
  return () => {
    hushed = false;
  };
}

function clearLine(): void {
  process.stderr.write("\r\x1b[K");
}

export function spin(text: string): Spinner {
  if (!process.stderr.isTTY) return { text, stop() {} };
  let frame = 0;
  const spinner = {
    text,
    stop() {
      clearInterval(timer);
      spinning = false;
      clearLine();
    },
  };
  // Nothing is shown for what takes under a moment.
  const timer = setInterval(() => {
    if (frame++ > 4 && !hushed)
      process.stderr.write(`\r\x1b[K${FRAMES[frame % FRAMES.length]} ${spinner.text}`);
  }, 80);
  spinning = true;
  return spinner;
}
