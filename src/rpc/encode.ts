/** Writes messages: an envelope made from scratch around payloads as they are. Nothing of the envelope that came survives here. */
import type { Writable } from "node:stream";
import type { Message } from "./message.ts";

const START = Buffer.from('{"jsonrpc":"2.0"');
const ID = Buffer.from(',"id":');
const PARAMS = Buffer.from(',"params":');
const RESULT = Buffer.from(',"result":');
const ERROR = Buffer.from(',"error":');
const NULL = Buffer.from("null");
const END = Buffer.from("}");
const NEWLINE = Buffer.from("\n");

/** Methods come from outside: only so many are remembered. */
const METHODS = 64;
const methods = new Map<string, Buffer>();

/** Parts from here on are handed to the system as they are; smaller ones are joined. */
const BIG = 16 * 1024;

/** The message in parts, to be joined or written one after the other. */
export function encode(message: Message, parts: Buffer[] = []): Buffer[] {
  parts.push(START);
  switch (message.kind) {
    case "request":
      parts.push(ID, message.id, methodPart(message.method));
      if (message.params) parts.push(PARAMS, message.params);
      break;
    case "notification":
      parts.push(methodPart(message.method));
      if (message.params) parts.push(PARAMS, message.params);
      break;
    case "result":
      parts.push(ID, message.id, RESULT, message.result);
      break;
    case "error":
      parts.push(ID, message.id ?? NULL, ERROR, message.error);
  }
  parts.push(END);
  return parts;
}

/** The whole of it, as one line without its break. */
export function writeMessage(message: Message): Buffer {
  return Buffer.concat(encode(message));
}

function methodPart(method: string): Buffer {
  const known = methods.get(method);
  if (known) return known;
  const part = Buffer.from(`,"method":${JSON.stringify(method)}`);
  if (methods.size < METHODS) methods.set(method, part);
  return part;
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
  #parts: Buffer[] = [];
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
    return this.#bytes + this.#stream.writableLength;
  }

  /** A line that is written already, in parts. */
  sendLine(written: readonly Buffer[]): void {
    if (!this.#stream.writable) return;
    for (const part of [...written, NEWLINE]) {
      this.#parts.push(part);
      this.#bytes += part.length;
    }
    this.flush();
  }

  send(message: Message, atOnce = false): void {
    if (!this.#stream.writable) return;
    const parts = this.#parts;
    const from = parts.length;
    encode(message, parts).push(NEWLINE);
    for (let k = from; k < parts.length; k++) this.#bytes += (parts[k] as Buffer).length;
    // Official clients drop progress that they read together with its answer: it must not wait for it here.
    if (atOnce || message.kind === "notification") this.flush();
    else if (from === 0) this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#byTurn) setImmediate(this.#flush);
    else process.nextTick(this.#flush);
  }

  /** Writes at once what was sent so far. */
  flush(): void {
    const parts = this.#parts;
    const bytes = this.#bytes;
    this.#parts = [];
    this.#bytes = 0;
    if (parts.length === 0 || !this.#stream.writable) return;
    const pieces = inPieces(parts, bytes);
    if (pieces.length === 1) this.#stream.write(pieces[0]);
    else this.#writeAll(pieces);
  }

  #writeAll(pieces: readonly Buffer[]): void {
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }
}
