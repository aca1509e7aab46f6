/** Slows down who writes more than anybody will read: the stream is left unread for a while, so that the writer waits. */
import type { Readable } from "node:stream";
import type { Clock } from "../../kernel/clock.ts";

/** Enough for any log; reading it costs a few per cent of a core. */
const BYTES_PER_SECOND = 8 * 1024 * 1024;
const WINDOW_MS = 100;
const BYTES_PER_WINDOW = (BYTES_PER_SECOND * WINDOW_MS) / 1_000;

export class Throttle {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #opened = Number.NEGATIVE_INFINITY;
  #bytes = 0;
  #released = false;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  count(bytes: number): void {
    const now = this.#clock.now();
    if (now - this.#opened >= WINDOW_MS) {
      this.#opened = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    if (this.#bytes < BYTES_PER_WINDOW || this.#released || this.#stream.isPaused()) return;
    this.#stream.pause();
    this.#clock.after(WINDOW_MS, () => this.#stream.resume());
  }

  /** The writer is dead: what is left in the pipe is little and wanted. */
  release(): void {
    this.#released = true;
    this.#stream.resume();
  }
}
