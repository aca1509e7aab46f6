/** Server-sent events, read from bytes and written to them. An event over the limit is skipped, never kept, and reported with the id of its message. Reconnecting is the caller's. */
import { DEFAULT_MAX_MESSAGE, type TooLong } from "./lines.ts";
import { Skim } from "./skim.ts";

export interface ServerEvent {
  /** "message" unless the stream says otherwise. */
  readonly event: string;
  /** Empty in events that only carry an id. */
  readonly data: Buffer;
  /** The last one the stream has given, for `Last-Event-ID`. */
  readonly id: string | undefined;
  /** Milliseconds to wait before reconnecting; the last the stream has given. */
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
  /** The line so far, joined once it is whole. */
  #line: Buffer[] = [];
  /** Data lines of the event so far, with the line breaks between them. */
  #data: Buffer[] = [];
  /** Of the data lines that are complete. */
  #bytes = 0;
  #lineBytes = 0;
  #event = "";
  #id: string | undefined;
  /** Of the event so far: given once that is whole. */
  #nextId: string | undefined;
  #retry: number | undefined;
  /** Set while an event over the limit goes by. */
  #skim: Skim | undefined;
  /** The rest of this line is not kept, being more data than there may be, or no data. */
  #passing: "data" | "other" | undefined;

  constructor(handlers: EventHandlers, limit = DEFAULT_MAX_MESSAGE) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  /** The last one given by an event that came whole, also if it had no data and was not dispatched. */
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
    if (this.#passing) {
      if (this.#passing === "data") this.#skim?.push(part);
      return;
    }
    this.#line.push(part);
    // With fewer bytes one cannot tell what line it is.
    if (this.#bytes + this.#lineBytes > this.#limit && this.#lineBytes >= DATA.length) this.#passBy();
  }

  /** Gives up what was kept of an event over the limit, or of a line that is no data. */
  #passBy(): void {
    const line = this.#takeLine();
    this.#passing = line.subarray(0, DATA.length).equals(DATA) ? "data" : "other";
    if (this.#passing === "other") return;
    this.#skim ??= new Skim();
    for (const part of this.#data) this.#skim.push(part);
    this.#data = [];
    this.#skim.push(line.subarray(DATA.length));
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
    const passing = this.#passing;
    if (passing === "data") this.#bytes += this.#lineBytes;
    this.#passing = undefined;
    this.#lineBytes = 0;
    if (passing) return;
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
      if (this.#skim) this.#skim.push(value);
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
    const skim = this.#skim;
    const bytes = this.#bytes;
    this.#id = this.#nextId;
    this.#data = [];
    this.#bytes = 0;
    this.#event = "";
    this.#skim = undefined;
    if (skim) this.#handlers.onTooLong({ id: skim.id, method: skim.meant === "request", bytes });
    else if (parts.length > 0) {
      const data = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      this.#handlers.onEvent({ event, data, id: this.#id, retry: this.#retry });
    }
  }
}

/** One event in parts. The data must have no line breaks, as messages of ours have none. */
export function encodeEvent(data: readonly Buffer[], id?: string, event?: string): Buffer[] {
  const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: `;
  return [Buffer.from(head), ...data, BLANK_LINE];
}
