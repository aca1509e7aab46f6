/**
 * Limits the bytes per second that are read from a stream. Over the limit it is paused, so that the writer
 * must wait.
 */
import type { Readable } from "node:stream";
import type { Clock } from "../../kernel/clock.ts";

/** Enough for any log. Reading that much costs a few per cent of a core. */
const BYTES_PER_SECOND = 8 * 1024 * 1024;
const WINDOW_MS = 100;
const BYTES_PER_WINDOW = (BYTES_PER_SECOND * WINDOW_MS) / 1_000;

export class Throttle {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #windowStart = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #released = false;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  count(bytes: number): void {
    const now = this.#clock.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    if (this.#bytes < BYTES_PER_WINDOW || this.#released || this.#stream.isPaused()) return;
    this.#stream.pause();
    this.#clock.after(WINDOW_MS, () => this.#stream.resume());
  }

  /** The writer has ended. The rest in the pipe is small and is read without a limit. */
  release(): void {
    this.#released = true;
    this.#stream.resume();
  }
}
