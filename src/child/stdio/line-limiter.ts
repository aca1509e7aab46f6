/** Limits the number of log lines per second and reports how many were skipped. Knows nothing of streams. */
import type { Clock } from "../../kernel/clock.ts";

export interface LineLimiterOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  /** Called once per second in which lines were skipped. */
  readonly onSkipped: (lines: number) => void;
}

const SECOND_MS = 1_000;

export class LineLimiter {
  readonly #options: LineLimiterOptions;
  #windowStart = Number.NEGATIVE_INFINITY;
  #shown = 0;
  #skipped = 0;

  constructor(options: LineLimiterOptions) {
    this.#options = options;
  }

  /** Whether one more line may be shown. */
  hasRoom(): boolean {
    const now = this.#options.clock.now();
    if (now - this.#windowStart >= SECOND_MS) {
      this.#windowStart = now;
      this.#shown = 0;
    }
    return this.#shown < this.#options.perSecond;
  }

  /** Whether the next line is shown. If not, it is counted as skipped. */
  take(): boolean {
    if (this.hasRoom()) {
      this.#shown += 1;
      return true;
    }
    this.skip(1);
    return false;
  }

  /** Counts skipped lines. */
  skip(lines: number): void {
    if (lines === 0) return;
    if (this.#skipped === 0) this.#options.clock.after(SECOND_MS, () => this.flush());
    this.#skipped += lines;
  }

  /** Reports skipped lines now. */
  flush(): void {
    const skipped = this.#skipped;
    this.#skipped = 0;
    if (skipped > 0) this.#options.onSkipped(skipped);
  }
}
