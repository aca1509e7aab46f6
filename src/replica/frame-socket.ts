/** A connection on which frames go both ways. Those of one turn of the event loop leave in one write. */
import type { Duplex } from "node:stream";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";

export interface FrameEvents {
  /** Of one frame that arrives. */
  readonly maxBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** The other end reads again. */
  readonly onDrain?: () => void;
  /** Called once. */
  readonly onClose: () => void;
}

export class FrameSocket {
  readonly #socket: Duplex;
  #corked = false;

  /** `first`: what has been read from the socket already. */
  constructor(socket: Duplex, first: Buffer, { maxBytes, onFrame, onDrain, onClose }: FrameEvents) {
    this.#socket = socket;
    const reader = new FrameReader(maxBytes, onFrame);
    const read = (chunk: Buffer): void => {
      try {
        reader.push(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    };
    if (first.length > 0) socket.unshift(first);
    socket.on("data", read);
    // A record that was changed on its way is an error that does not close the socket.
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    socket.once("close", onClose);
    if (onDrain) socket.on("drain", onDrain);
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  /** Bytes that the other end has not taken yet. */
  get waiting(): number {
    return this.#socket.writableLength;
  }

  /** The other end does not read fast enough. */
  get full(): boolean {
    return this.#socket.writableNeedDrain;
  }

  send(kind: number, request: number, content?: readonly Buffer[]): void {
    if (this.#socket.destroyed) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      setImmediate(() => this.flush());
    }
    for (const part of encodeFrame(kind, request, content)) this.#socket.write(part);
  }

  /** Sends what waits for the end of this turn. */
  flush(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#socket.uncork();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
