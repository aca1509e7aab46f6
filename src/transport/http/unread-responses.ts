/**
 * Limits the memory of responses that clients do not read, by closing connections. Counts bytes, does not
 * hold them.
 */
import type { ServerResponse } from "node:http";

/** An open stream is closed if a message is to be added while more than this is unread. */
const MAX_STREAM_BYTES = 4 * 1024 * 1024;
/** Limit for all finished responses together. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** Smaller responses are not counted, because the socket buffer takes them at once. */
const SMALL_BYTES = 64 * 1024;

/**
 * Writes to an open stream, or closes it if its backlog is too large. A single large message is always
 * written; only a further message on top of a large backlog shows that the client reads too slowly.
 */
export function writeOrCut(response: ServerResponse, bytes: Buffer | string): void {
  if (response.destroyed) return;
  if (response.writableLength > MAX_STREAM_BYTES) response.destroy();
  else response.write(bytes);
}

export class UnreadResponses {
  readonly #responses = new Map<ServerResponse, number>();
  #bytes = 0;

  /**
   * Counts a response that has ended and has this many bytes to send. Beyond the limit, the oldest responses
   * are destroyed.
   */
  add(response: ServerResponse, bytes: number): void {
    if (bytes < SMALL_BYTES || response.destroyed) return;
    this.#responses.set(response, bytes);
    this.#bytes += bytes;
    response.once("close", () => this.#remove(response));
    for (const slow of this.#responses.keys()) {
      if (this.#bytes <= MAX_TOTAL_BYTES) break;
      this.#remove(slow);
      slow.destroy();
    }
  }

  #remove(response: ServerResponse): void {
    const bytes = this.#responses.get(response);
    if (bytes === undefined) return;
    this.#responses.delete(response);
    this.#bytes -= bytes;
  }
}
