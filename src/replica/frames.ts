/**
 * Frames: how replicas talk about many requests on one connection. A frame has the length of the rest (4
 * bytes), its kind (1), the number of its request (4), and its content. Does no I/O.
 */
import { inPieces } from "../rpc/encode.ts";

export const FRAME = {
  /** To the replica that answers. */
  request: 1,
  /** The client has left. */
  cancel: 2,
  /** The client does not read fast enough. */
  pause: 3,
  resume: 4,
  /** Asks for a sign of life. */
  ping: 5,
  /** Back: the head of the answer, perhaps with the beginning of its body. */
  answer: 11,
  data: 12,
  end: 13,
  /** The answer breaks off. */
  abort: 14,
  pong: 15,
} as const;

const LENGTH_BYTES = 4;
const HEAD_BYTES = 9;
/** Larger than every part of an answer. What says more is not one of us. */
export const MAX_ANSWER_BYTES = 1024 * 1024 * 1024;
/** The same for a request, whose body is limited. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

export interface Frame {
  readonly kind: number;
  readonly request: number;
  readonly content: Buffer;
}

/** Small parts are joined to one. */
export function encodeFrame(kind: number, request: number, content: readonly Buffer[] = []): Buffer[] {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  let bytes = HEAD_BYTES;
  for (const part of content) bytes += part.length;
  head.writeUInt32BE(bytes - LENGTH_BYTES, 0);
  head.writeUInt8(kind, LENGTH_BYTES);
  head.writeUInt32BE(request, LENGTH_BYTES + 1);
  return content.length === 0 ? [head] : inPieces([head, ...content], bytes);
}

export class FrameReader {
  readonly #maxBytes: number;
  readonly #onFrame: (frame: Frame) => void;
  /** The beginning of a frame, and how many bytes it needs at least. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #needed = 0;

  constructor(maxBytes: number, onFrame: (frame: Frame) => void) {
    this.#maxBytes = maxBytes;
    this.#onFrame = onFrame;
  }

  /** Throws if these are no frames. */
  push(chunk: Buffer): void {
    if (this.#parts.length === 0) return this.#read(chunk);
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    const bytes = Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#read(bytes);
  }

  #read(bytes: Buffer): void {
    let at = 0;
    let needed = HEAD_BYTES;
    while (bytes.length - at >= HEAD_BYTES) {
      needed = LENGTH_BYTES + bytes.readUInt32BE(at);
      if (needed < HEAD_BYTES || needed > this.#maxBytes) throw new Error(`a frame of ${needed} bytes`);
      if (bytes.length - at < needed) break;
      this.#onFrame({
        kind: bytes.readUInt8(at + LENGTH_BYTES),
        request: bytes.readUInt32BE(at + LENGTH_BYTES + 1),
        content: bytes.subarray(at + HEAD_BYTES, at + needed),
      });
      at += needed;
      needed = HEAD_BYTES;
    }
    if (at === bytes.length) return;
    this.#parts = [bytes.subarray(at)];
    this.#bytes = bytes.length - at;
    this.#needed = needed;
  }
}
