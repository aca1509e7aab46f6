/** Writes messages: a new envelope around unchanged payloads. Nothing of a received envelope is reused. */
import type { Writable } from "node:stream";
import { fromLatin1, jsonLatin1, type Raw, toLatin1 } from "../kernel/raw.ts";
import type { Message } from "./message.ts";
import { SHORT } from "./short.ts";

const END = Buffer.from("}");

/** Parts of this size or more are written without a copy; smaller ones are joined. */
const UNCOPIED_BYTES = 16 * 1024;

/** Returns the message in parts, to be joined or written one after the other. */
export function encode(message: Message, parts: Buffer[] = []): Buffer[] {
  const payload = payloadOf(message);
  if (isLong(payload)) parts.push(fromLatin1(before(message)), payload, END);
  else parts.push(fromLatin1(line(message, payload)));
  return parts;
}

/** The message as one line, without the line break. */
export function writeMessage(message: Message): Buffer {
  return Buffer.concat(encode(message));
}

function isLong(payload: Raw | undefined): payload is Raw {
  return payload !== undefined && payload.length > SHORT;
}

function payloadOf(message: Message): Raw | undefined {
  if (message.kind === "result") return message.result;
  return message.kind === "error" ? message.error : message.params;
}

function line(message: Message, payload: Raw | undefined): string {
  return `${before(message)}${payload ? toLatin1(payload) : ""}}`;
}

/** The text before the payload, in Latin-1. */
function before(message: Message): string {
  switch (message.kind) {
    case "request":
      return `{"jsonrpc":"2.0","id":${toLatin1(message.id)},${methodOf(message)}`;
    case "notification":
      return `{"jsonrpc":"2.0",${methodOf(message)}`;
    case "result":
      return `{"jsonrpc":"2.0","id":${toLatin1(message.id)},"result":`;
    case "error":
      return `{"jsonrpc":"2.0","id":${message.id ? toLatin1(message.id) : "null"},"error":`;
  }
}

function methodOf({ method, params }: Message & { kind: "request" | "notification" }): string {
  return params ? `"method":${jsonLatin1(method)},"params":` : `"method":${jsonLatin1(method)}`;
}

/** Joins small parts, so that there are as few pieces as possible without copying a large part. */
export function inPieces(parts: readonly Buffer[], bytes = lengthOf(parts)): Buffer[] {
  if (bytes < UNCOPIED_BYTES) return [Buffer.concat(parts, bytes)];
  const pieces: Buffer[] = [];
  let small: Buffer[] = [];
  const join = (): void => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (part.length < UNCOPIED_BYTES) small.push(part);
    else {
      join();
      pieces.push(part);
    }
  }
  join();
  return pieces;
}

export function lengthOf(parts: readonly Buffer[]): number {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  return bytes;
}

export interface WriterOptions {
  /** Joins all messages of one turn of the event loop; otherwise only those of one event. */
  readonly byTurn?: boolean;
  /** The stream was full and has room again. */
  onDrain?(): void;
  /** The stream failed. Nothing more is written. */
  onError?(error: Error): void;
}

/**
 * Writes messages as lines. Messages of one event, or of one turn of the event loop, go out in one write.
 * Large payloads are not copied. Messages to an ended stream are dropped.
 */
export class LineWriter {
  readonly #stream: Writable;
  /** The queue: parts up to the last long payload, then Latin-1 text. */
  #parts: Buffer[] = [];
  #text = "";
  #bytes = 0;
  /** Bytes that were handed to the stream, and the sizes of those writes that are not complete yet. */
  #handed = 0;
  readonly #writes: number[] = [];
  #written = 0;
  /** The end of what the stream passes on at this moment, all in one write. */
  #offered = 0;
  readonly #byTurn: boolean;
  readonly #flush = (): void => this.flush();
  readonly #onWritten = (error?: Error | null): void => {
    const bytes = this.#writes.shift() ?? 0;
    if (error) return;
    this.#written += bytes;
    // The stream now passes on all that was waiting, as one write.
    this.#offered = this.#handed;
  };

  constructor(stream: Writable, options: WriterOptions = {}) {
    this.#stream = stream;
    this.#byTurn = options.byTurn ?? false;
    // Without a listener a broken pipe would end the process.
    stream.on("error", (error: Error) => options.onError?.(error));
    stream.on("drain", () => options.onDrain?.());
  }

  /** Bytes that are not yet written to the operating system. */
  get backlog(): number {
    return this.#bytes + this.#text.length + this.#stream.writableLength;
  }

  /** Number of bytes sent so far, whether or not they are written. */
  get position(): number {
    return this.#handed + this.#bytes + this.#text.length;
  }

  /** Number of bytes that the operating system has accepted in complete writes. */
  get written(): number {
    return this.#written;
  }

  /**
   * Whether a line that ends at this position certainly was not read as a whole. The operating system may
   * have accepted a part of the write in progress, so of the lines in it this is certain only for the last
   * one.
   */
  isUnread(end: number): boolean {
    return end > this.#written && end >= this.#offered;
  }

  /** Sends a line that is already encoded, given in parts. */
  sendLine(written: readonly Buffer[]): void {
    if (!this.#stream.writable) return;
    for (const part of written) this.#add(part);
    this.#text += "\n";
    this.flush();
  }

  send(message: Message, atOnce = false): void {
    if (!this.#stream.writable) return;
    const first = this.#text === "";
    const payload = payloadOf(message);
    if (isLong(payload)) {
      this.#text += before(message);
      this.#add(payload);
      this.#text = "}\n";
    } else this.#text += `${line(message, payload)}\n`;
    // Official clients drop progress that they read together with its answer, so a notification is written at
    // once.
    if (atOnce || message.kind === "notification") this.flush();
    else if (first) this.#flushSoon();
  }

  /** Appends a part after the text so far. */
  #add(part: Buffer): void {
    for (const one of [fromLatin1(this.#text), part]) {
      this.#parts.push(one);
      this.#bytes += one.length;
    }
    this.#text = "";
  }

  #flushSoon(): void {
    if (this.#byTurn) setImmediate(this.#flush);
    else process.nextTick(this.#flush);
  }

  /** Writes all queued messages now. */
  flush(): void {
    const text = this.#text;
    const parts = this.#parts;
    this.#text = "";
    if (parts.length > 0) this.#parts = [];
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (text === "" || !this.#stream.writable) return;
    if (this.#writes.length === 0) this.#offered = this.#handed + bytes + text.length;
    if (parts.length === 0) {
      this.#handOver(text.length);
      this.#stream.write(text, "latin1", this.#onWritten);
    } else this.#writeAll(inPieces([...parts, fromLatin1(text)], bytes + text.length));
  }

  #handOver(bytes: number): void {
    this.#handed += bytes;
    this.#writes.push(bytes);
  }

  #writeAll(pieces: readonly Buffer[]): void {
    this.#stream.cork();
    for (const piece of pieces) {
      this.#handOver(piece.length);
      this.#stream.write(piece, this.#onWritten);
    }
    this.#stream.uncork();
  }
}
