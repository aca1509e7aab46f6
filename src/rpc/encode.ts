/** Writes messages: an envelope made from scratch around payloads as they are. Nothing of the envelope that came survives here. */
import type { Writable } from "node:stream";
import { fromLetters, lettersOf, type Raw, toLetters } from "../kernel/raw.ts";
import type { Message } from "./message.ts";
import { SHORT } from "./short.ts";

const END = Buffer.from("}");

/** Parts from here on are handed to the system as they are; smaller ones are joined. */
const BIG = 16 * 1024;

/** The message in parts, to be joined or written one after the other. */
export function encode(message: Message, parts: Buffer[] = []): Buffer[] {
  const payload = payloadOf(message);
  if (isLong(payload)) parts.push(fromLetters(before(message)), payload, END);
  else parts.push(fromLetters(line(message, payload)));
  return parts;
}

/** The whole of it, as one line without its break. */
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
  return `${before(message)}${payload ? toLetters(payload) : ""}}`;
}

/** What stands before the payload, in letters. */
function before(message: Message): string {
  switch (message.kind) {
    case "request":
      return `{"jsonrpc":"2.0","id":${toLetters(message.id)},${methodOf(message)}`;
    case "notification":
      return `{"jsonrpc":"2.0",${methodOf(message)}`;
    case "result":
      return `{"jsonrpc":"2.0","id":${toLetters(message.id)},"result":`;
    case "error":
      return `{"jsonrpc":"2.0","id":${message.id ? toLetters(message.id) : "null"},"error":`;
  }
}

function methodOf({ method, params }: Message & { kind: "request" | "notification" }): string {
  return params ? `"method":${lettersOf(method)},"params":` : `"method":${lettersOf(method)}`;
}

/** As few pieces as can be without copying a big one. */
export function inPieces(parts: readonly Buffer[], bytes = lengthOf(parts)): Buffer[] {
  if (bytes < BIG) return [Buffer.concat(parts, bytes)];
  const pieces: Buffer[] = [];
  let small: Buffer[] = [];
  const join = (): void => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (part.length < BIG) small.push(part);
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
  /** Waits for all that is ready in this turn of the event loop, and not only for what one event led to. */
  readonly byTurn?: boolean;
  /** The stream had been full and has room again. */
  onDrain?(): void;
  /** The stream broke; nothing more is written. */
  onError?(error: Error): void;
}

/** Writes messages as lines. Those that one event of the loop led to, or all of one turn, go out in one write, big payloads without a copy. A dead stream swallows what it is given. */
export class LineWriter {
  readonly #stream: Writable;
  /** What is to be written: parts up to the last long payload, then letters. */
  #parts: Buffer[] = [];
  #letters = "";
  #bytes = 0;
  readonly #byTurn: boolean;
  readonly #flush = (): void => this.flush();

  constructor(stream: Writable, options: WriterOptions = {}) {
    this.#stream = stream;
    this.#byTurn = options.byTurn ?? false;
    // Without a listener a broken pipe would end the process.
    stream.on("error", (error: Error) => options.onError?.(error));
    stream.on("drain", () => options.onDrain?.());
  }

  /** Bytes that have not left the process. */
  get backlog(): number {
    return this.#bytes + this.#letters.length + this.#stream.writableLength;
  }

  /** A line that is written already, in parts. */
  sendLine(written: readonly Buffer[]): void {
    if (!this.#stream.writable) return;
    for (const part of written) this.#add(part);
    this.#letters += "\n";
    this.flush();
  }

  send(message: Message, atOnce = false): void {
    if (!this.#stream.writable) return;
    const first = this.#letters === "";
    const payload = payloadOf(message);
    if (isLong(payload)) {
      this.#letters += before(message);
      this.#add(payload);
      this.#letters = "}\n";
    } else this.#letters += `${line(message, payload)}\n`;
    // Official clients drop progress that they read together with its answer: it must not wait for it here.
    if (atOnce || message.kind === "notification") this.flush();
    else if (first) this.#flushSoon();
  }

  /** Behind the letters so far. */
  #add(part: Buffer): void {
    for (const one of [fromLetters(this.#letters), part]) {
      this.#parts.push(one);
      this.#bytes += one.length;
    }
    this.#letters = "";
  }

  #flushSoon(): void {
    if (this.#byTurn) setImmediate(this.#flush);
    else process.nextTick(this.#flush);
  }

  /** Writes at once what was sent so far. */
  flush(): void {
    const letters = this.#letters;
    const parts = this.#parts;
    this.#letters = "";
    if (parts.length > 0) this.#parts = [];
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (letters === "" || !this.#stream.writable) return;
    if (parts.length === 0) this.#stream.write(letters, "latin1");
    else this.#writeAll(inPieces([...parts, fromLetters(letters)], bytes + letters.length));
  }

  #writeAll(pieces: readonly Buffer[]): void {
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }
}
