/** Cuts a byte stream into lines. A line within one chunk is a view of it; one over the limit is skipped, never kept, and reported with its id. */
import type { Raw } from "../kernel/raw.ts";
import { Skim } from "./skim.ts";

export const DEFAULT_MAX_MESSAGE = 64 * 1024 * 1024;

export interface TooLong {
  readonly id: Raw | undefined;
  /** It was a request or a notification, so that the id is the other side's, not ours. */
  readonly method: boolean;
  readonly bytes: number;
}

export interface LineHandlers {
  /** Without its line break; never empty. */
  onLine(line: Buffer): void;
  onTooLong(message: TooLong): void;
}

export class LineReader {
  readonly #handlers: LineHandlers;
  readonly #limit: number;
  /** The line so far, joined once it is whole. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Set while a line over the limit goes by. */
  #skim: Skim | undefined;

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

  /** Takes what there is as a line: after a line break, or when the stream has ended. */
  end(): void {
    const parts = this.#parts;
    const length = this.#length;
    const skim = this.#skim;
    this.#parts = [];
    this.#length = 0;
    this.#skim = undefined;
    if (skim) {
      this.#handlers.onTooLong({ id: skim.id, method: skim.meant === "request", bytes: length });
      return;
    }
    let line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
    if (line[line.length - 1] === 0x0d) line = line.subarray(0, -1);
    if (line.length > 0) this.#handlers.onLine(line);
  }

  #append(part: Buffer | undefined): void {
    if (!part) return;
    this.#length += part.length;
    if (!this.#skim) {
      this.#parts.push(part);
      if (this.#length <= this.#limit) return;
      this.#skim = new Skim();
      for (const kept of this.#parts) this.#skim.push(kept);
      this.#parts = [];
    } else this.#skim.push(part);
  }
}
