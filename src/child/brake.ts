/**
 * Stops reading from a child that does not take the answers to what it asks. Without it a child that asks and
 * never reads would fill our memory with answers. Counts only what the child itself caused, not the requests
 * of callers.
 */
import type { Readable } from "node:stream";
import type { Clock, Timer } from "../kernel/clock.ts";

/** Above this nothing is read until the child has taken its answers. */
const PAUSE_BYTES = 1024 * 1024;
/** Above this, or after this time without reading, the child is given up. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_PAUSE_MS = 30_000;

export interface BrakeOptions {
  readonly clock: Clock;
  /** The child does not take its answers. Called once. */
  readonly onStuck: (reason: string) => void;
}

export class Brake {
  readonly #options: BrakeOptions;
  readonly #streams = new Set<Readable>();
  #pausedFor: Timer | undefined;
  #over = false;
  #counted = 0;

  constructor(options: BrakeOptions) {
    this.#options = options;
  }

  /** A stream of the child that can be paused. */
  add(stream: Readable): void {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    if (this.#pausedFor) stream.pause();
  }

  /** Counts an answer that is on its way. The returned function takes it off again, once. */
  count(bytes: number): () => void {
    this.#counted += bytes;
    this.update(this.#counted);
    let open = true;
    return () => {
      if (open) this.#counted -= bytes;
      open = false;
      this.update(this.#counted);
    };
  }

  /** `bytes` of answers are on their way to the child. */
  update(bytes: number): void {
    if (this.#over) return;
    if (bytes > MAX_BYTES) this.#giveUp(bytes);
    else if (bytes > PAUSE_BYTES) this.#pause(bytes);
    else if (this.#pausedFor) this.#resume();
  }

  /** Reads on for good, because the child has ended. */
  release(): void {
    this.#over = true;
    if (this.#pausedFor) this.#resume();
  }

  #pause(bytes: number): void {
    // Each time, because something else may have resumed a stream.
    for (const stream of this.#streams) stream.pause();
    this.#pausedFor ??= this.#options.clock.after(MAX_PAUSE_MS, () => this.#giveUp(bytes));
  }

  #resume(): void {
    this.#pausedFor?.cancel();
    this.#pausedFor = undefined;
    for (const stream of this.#streams) stream.resume();
  }

  #giveUp(bytes: number): void {
    this.#over = true;
    this.#pausedFor?.cancel();
    this.#options.onStuck(
      `It asked for more than it read (${bytes} bytes of answers were waiting), so it was ended`,
    );
  }
}
