/** A spinner on stderr at a terminal; does nothing elsewhere. Clears its line when it stops. */
import { shown } from "./print.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export interface Spinner {
  text: string;
  stop(): void;
}

let spinning = false;
let paused = false;

/** Hides the spinner while other code uses the terminal. The returned function resumes it. */
export function pauseSpinner(): () => void {
  paused = true;
  if (spinning) clearLine();
  return () => {
    paused = false;
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
  // The spinner appears only after about 0.4 s.
  const timer = setInterval(() => {
    if (frame++ > 4 && !paused)
      process.stderr.write(`\r\x1b[K${FRAMES[frame % FRAMES.length]} ${shown(spinner.text)}`);
  }, 80);
  spinning = true;
  return spinner;
}
