/** The requests that another replica passes on over one connection, and their answers. */
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { markForwarded } from "../transport/http/forwarded.ts";
import { FrameSocket } from "./frame-socket.ts";
import { FRAME, type Frame, MAX_REQUEST_BYTES } from "./frames.ts";
import { AnswerStream } from "./passed-request.ts";
import { decodeRequest } from "./request-head.ts";

export interface PassedParts {
  /** The id of the other replica. */
  readonly from: string;
  /** Serves a request as if it had come from its client. */
  readonly serve: RequestListener;
}

export class PassedRequests {
  readonly #parts: PassedParts;
  readonly #frames: FrameSocket;
  readonly #open = new Map<number, AnswerStream>();

  constructor(connection: Socket, first: Buffer, parts: PassedParts) {
    this.#parts = parts;
    this.#frames = new FrameSocket(connection, first, {
      maxBytes: MAX_REQUEST_BYTES,
      onFrame: (frame) => this.#take(frame),
      onDrain: () => {
        for (const answer of this.#open.values()) answer.goOn();
      },
      onClose: () => {
        for (const answer of this.#open.values()) answer.destroy();
      },
    });
  }

  #take({ kind, request, content }: Frame): void {
    if (kind === FRAME.request) this.#serve(request, content);
    else if (kind === FRAME.cancel) this.#open.get(request)?.destroy();
    else if (kind === FRAME.pause || kind === FRAME.resume)
      this.#open.get(request)?.pause(kind === FRAME.pause);
    else if (kind === FRAME.ping) this.#frames.send(FRAME.pong, request);
    else throw new Error(`a frame of kind ${kind}`);
  }

  #serve(number: number, content: Buffer): void {
    if (this.#open.has(number)) throw new Error(`two requests ${number}`);
    const { head, body } = decodeRequest(content);
    const answer = new AnswerStream(this.#frames, number);
    const request = answer.requestOf(head, body);
    this.#open.set(number, answer);
    answer.once("close", () => this.#open.delete(number));
    const { address, released } = head;
    markForwarded(request, { address, from: this.#parts.from, released, body });
    this.#parts.serve(request, answer.responseTo(request));
  }
}
