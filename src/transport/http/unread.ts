/** Answers that were written and not read yet. Holds no bytes itself: it decides who is cut off so that memory stays bounded. */
import type { ServerResponse } from "node:http";

/** A stream of which this much is unread gets no more. */
const MOST_OF_ONE = 4 * 1024 * 1024;
/** Of all answers together. */
const MOST_IN_ALL = 256 * 1024 * 1024;
/** What the system takes at once is not worth counting. */
const SMALL = 64 * 1024;

/** Writes to an open stream. A large message is no sign of a slow reader, one more upon a large backlog is. */
export function writeOrCut(response: ServerResponse, bytes: Buffer | string): void {
  if (response.destroyed) return;
  if (response.writableLength > MOST_OF_ONE) response.destroy();
  else response.write(bytes);
}

export class Unread {
  readonly #waiting = new Map<ServerResponse, number>();
  #bytes = 0;

  /** The response has ended with that many bytes. Where there are too many, those who had longest to read are given up. */
  add(response: ServerResponse, bytes: number): void {
    if (bytes < SMALL || response.destroyed) return;
    this.#waiting.set(response, bytes);
    this.#bytes += bytes;
    response.once("close", () => this.#leave(response));
    for (const slow of this.#waiting.keys()) {
      if (this.#bytes <= MOST_IN_ALL) break;
      this.#leave(slow);
      slow.destroy();
    }
  }

  #leave(response: ServerResponse): void {
    const bytes = this.#waiting.get(response);
    if (bytes === undefined) return;
    this.#waiting.delete(response);
    this.#bytes -= bytes;
  }
}
