/** Lets so many lines per second into the log and tells what it held back. Knows nothing of streams. */
import type { Clock } from "../../kernel/clock.ts";

export interface LineGateOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  /** Once per second in which something was held back. */
  readonly onHeldBack: (lines: number) => void;
}

const SECOND_MS = 1_000;

export class LineGate {
  readonly #options: LineGateOptions;
  #opened = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #held = 0;

  constructor(options: LineGateOptions) {
    this.#options = options;
  }

  /** Whether a line could pass. */
  isOpen(): boolean {
    const now = this.#options.clock.now();
    if (now - this.#opened >= SECOND_MS) {
      this.#opened = now;
      this.#passed = 0;
    }
    return this.#passed < this.#options.perSecond;
  }

  /** Whether the next line passes; if not it is counted. */
  pass(): boolean {
    if (this.isOpen()) {
      this.#passed += 1;
      return true;
    }
    this.hold(1);
    return false;
  }

  /** Counts lines that were not even looked at. */
  hold(lines: number): void {
    if (lines === 0) return;
    if (this.#held === 0) this.#options.clock.after(SECOND_MS, () => this.flush());
    this.#held += lines;
  }

  /** Tells at once. */
  flush(): void {
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#options.onHeldBack(held);
  }
}
