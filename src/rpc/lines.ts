/**
 * Splits a byte stream into lines. A line within one chunk is a view of the chunk. A line over the size limit
 * is skipped without keeping it, and reported with its id.
 */
import type { Raw } from "../kernel/raw.ts";
import { IdFinder } from "./id-finder.ts";

export const DEFAULT_MAX_MESSAGE = 64 * 1024 * 1024;

export interface TooLong {
  readonly id: Raw | undefined;
  /** The message has a method, so its id belongs to the other side. */
  readonly method: boolean;
  readonly bytes: number;
}

export interface LineHandlers {
  /** Called without the line break, and not for empty lines. */
  onLine(line: Buffer): void;
  onTooLong(message: TooLong): void;
}

export class LineReader {
  readonly #handlers: LineHandlers;
  readonly #limit: number;
  /** Parts of the incomplete line, joined once it is complete. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Set while a line over the limit is skipped. */
  #idFinder: IdFinder | undefined;

  constructor(handlers: LineHandlers, limit = DEFAULT_MAX_MESSAGE) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  /** The chunk must not change afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, start);
      if (end < 0) break;
      this.#append(start === end ? undefined : chunk.subarray(start, end));
      start = end + 1;
      this.end();
    }
    if (start < chunk.length) this.#append(start === 0 ? chunk : chunk.subarray(start));
  }

  /** Ends the current line: after a line break, or at the end of the stream. */
  end(): void {
    const parts = this.#parts;
    const length = this.#length;
    const idFinder = this.#idFinder;
    this.#parts = [];
    this.#length = 0;
    this.#idFinder = undefined;
    if (idFinder) {
      this.#handlers.onTooLong({ id: idFinder.id, method: idFinder.meant === "request", bytes: length });
      return;
    }
    let line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
    if (line[line.length - 1] === 0x0d) line = line.subarray(0, -1);
    if (line.length > 0) this.#handlers.onLine(line);
  }

  #append(part: Buffer | undefined): void {
    if (!part) return;
    this.#length += part.length;
    if (!this.#idFinder) {
      this.#parts.push(part);
      if (this.#length <= this.#limit) return;
      this.#idFinder = new IdFinder();
      for (const kept of this.#parts) this.#idFinder.push(kept);
      this.#parts = [];
    } else this.#idFinder.push(part);
  }
}
