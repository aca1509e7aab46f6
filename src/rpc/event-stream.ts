/**
 * Reads and writes server-sent events. An event over the size limit is skipped without keeping it, and
 * reported with the id of its message. Does not reconnect.
 */

import { IdFinder } from "./id-finder.ts";
import { DEFAULT_MAX_MESSAGE, type TooLong } from "./lines.ts";

export interface ServerEvent {
  /** "message" if the stream names no other type. */
  readonly event: string;
  /** Empty if the event has only an id. */
  readonly data: Buffer;
  /** The last id of the stream, for `Last-Event-ID`. */
  readonly id: string | undefined;
  /** Milliseconds to wait before reconnecting; the last value of the stream. */
  readonly retry: number | undefined;
}

export interface EventHandlers {
  onEvent(event: ServerEvent): void;
  onTooLong(message: TooLong): void;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const NEWLINE = Buffer.from("\n");
const BLANK_LINE = Buffer.from("\n\n");
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const DATA = Buffer.from("data:");

export class EventReader {
  readonly #handlers: EventHandlers;
  readonly #limit: number;
  #atStart = true;
  #afterCr = false;
  /** Parts of the incomplete line, joined once it is complete. */
  #line: Buffer[] = [];
  /** Data lines of the event so far, with line breaks between them. */
  #data: Buffer[] = [];
  /** Length of the complete data lines. */
  #bytes = 0;
  #lineBytes = 0;
  #event = "";
  #id: string | undefined;
  /** The id of the event so far. It counts once the event is complete. */
  #nextId: string | undefined;
  #retry: number | undefined;
  /** Set while an event over the limit is skipped. */
  #idFinder: IdFinder | undefined;
  /** Set while the rest of a line is skipped: data over the limit, or a line that is no data. */
  #skipping: "data" | "other" | undefined;

  constructor(handlers: EventHandlers, limit = DEFAULT_MAX_MESSAGE) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  /** The id of the last complete event that had one, even if it had no data and was not dispatched. */
  get lastId(): string | undefined {
    return this.#id;
  }

  get retry(): number | undefined {
    return this.#retry;
  }

  /** The chunk must not change afterwards. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = this.#afterCr && chunk[0] === LF ? 1 : 0;
    this.#afterCr = false;
    let lf = chunk.indexOf(LF, start);
    let cr = chunk.indexOf(CR, start);
    while (lf >= 0 || cr >= 0) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      this.#append(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
      if (end === cr) {
        if (start === chunk.length) this.#afterCr = true;
        if (start === lf) start++;
        cr = chunk.indexOf(CR, start);
      }
      if (lf >= 0 && lf < start) lf = chunk.indexOf(LF, start);
    }
    this.#append(chunk.subarray(start));
  }

  #append(part: Buffer): void {
    if (part.length === 0) return;
    this.#lineBytes += part.length;
    if (this.#skipping) {
      if (this.#skipping === "data") this.#idFinder?.push(part);
      return;
    }
    this.#line.push(part);
    // With fewer bytes the kind of the line is not known yet.
    if (this.#bytes + this.#lineBytes > this.#limit && this.#lineBytes >= DATA.length) this.#skipLine();
  }

  /** Drops what was kept of an event over the limit, or of a long line that is no data. */
  #skipLine(): void {
    const line = this.#takeLine();
    this.#skipping = line.subarray(0, DATA.length).equals(DATA) ? "data" : "other";
    if (this.#skipping === "other") return;
    this.#idFinder ??= new IdFinder();
    for (const part of this.#data) this.#idFinder.push(part);
    this.#data = [];
    this.#idFinder.push(line.subarray(DATA.length));
  }

  #takeLine(): Buffer {
    const parts = this.#line;
    this.#line = [];
    const line = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const start = this.#atStart && line.subarray(0, 3).equals(BOM) ? 3 : 0;
    this.#atStart = false;
    return start === 0 ? line : line.subarray(start);
  }

  #endLine(): void {
    const skipped = this.#skipping;
    if (skipped === "data") this.#bytes += this.#lineBytes;
    this.#skipping = undefined;
    this.#lineBytes = 0;
    if (skipped) return;
    const line = this.#takeLine();
    if (line.length === 0) {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(COLON);
    const name = line.toString("latin1", 0, colon < 0 ? Math.min(line.length, 8) : Math.min(colon, 8));
    const value = colon < 0 ? line.length : line[colon + 1] === 0x20 ? colon + 2 : colon + 1;
    this.#field(name, line.subarray(value));
  }

  #field(name: string, value: Buffer): void {
    if (name === "data") {
      this.#bytes += value.length;
      if (this.#idFinder) this.#idFinder.push(value);
      else if (this.#data.length > 0) this.#data.push(NEWLINE, value);
      else this.#data.push(value);
      return;
    }
    const text = value.toString();
    if (name === "event") this.#event = text;
    else if (name === "id" && !text.includes("\0")) this.#nextId = text;
    else if (name === "retry" && /^\d+$/.test(text)) this.#retry = Number(text);
  }

  #dispatch(): void {
    const parts = this.#data;
    const event = this.#event || "message";
    const idFinder = this.#idFinder;
    const bytes = this.#bytes;
    this.#id = this.#nextId;
    this.#data = [];
    this.#bytes = 0;
    this.#event = "";
    this.#idFinder = undefined;
    if (idFinder) this.#handlers.onTooLong({ id: idFinder.id, method: idFinder.meant === "request", bytes });
    else if (parts.length > 0) {
      const data = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      this.#handlers.onEvent({ event, data, id: this.#id, retry: this.#retry });
    }
  }
}

/** Encodes one event in parts. The data must contain no line breaks. */
export function encodeEvent(data: readonly Buffer[], id?: string, event?: string): Buffer[] {
  const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: `;
  return [Buffer.from(head), ...data, BLANK_LINE];
}
