/**
 * The connection on which requests are passed on to one other replica, many at once. It is opened by a request
 * of HTTP, which says for whom it is and in which version both talk.
 */
import { type ClientRequest, request as httpRequest } from "node:http";
import type { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";
import { FrameSocket } from "./frame-socket.ts";
import { FRAME, type Frame } from "./frames.ts";
import { FORWARD, FROM, HOP, HOP_VERSION, MISDIRECTED, PROTOCOL, TO } from "./hop-protocol.ts";

/** An idle connection that leads nowhere any more is noticed by this, not by the next request. */
const KEEP_ALIVE_MS = 5_000;

/** Why a request got no answer. */
export interface Failure {
  readonly as: "incompatible" | "broken";
  /** Nothing listens at the address. */
  readonly refused: boolean;
}

/** A request that is passed on. */
export interface Passage {
  /** What the other replica gets. */
  readonly content: readonly Buffer[];
  /** Its number on the connection, given when it leaves: from then on nobody knows whether it is served. */
  number: number | undefined;
  /** The head of the answer with what has come of its body. As `data`. */
  answer(content: Buffer): boolean;
  /** Returns false if the client does not read fast enough. */
  data(content: Buffer): boolean;
  end(): void;
  failed(failure: Failure): void;
}

export interface ChannelTarget {
  readonly id: string;
  /** HOST:PORT */
  readonly address: string;
}

interface ChannelParts {
  readonly agent: ChannelAgent;
  readonly self: string;
  readonly target: ChannelTarget;
  readonly onClosed: () => void;
}

export class HopChannel {
  readonly #parts: ChannelParts;
  readonly #opening: ClientRequest;
  #frames: FrameSocket | undefined;
  /** Those that have not left yet. */
  #due: Passage[] = [];
  readonly #open = new Map<number, Passage>();
  #last = 0;

  constructor(parts: ChannelParts) {
    this.#parts = parts;
    const { agent, self, target } = parts;
    const headers = {
      connection: "Upgrade",
      upgrade: PROTOCOL,
      [FROM]: self,
      [TO]: target.id,
      [HOP]: HOP_VERSION,
    };
    this.#opening = httpRequest({ ...endpointOf(target.address), agent, path: FORWARD, headers });
    this.#opening.once("upgrade", (_, socket, first) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      this.#frames = new FrameSocket(socket, first, {
        onFrame: (frame) => this.#take(frame),
        onClose: () => this.#close({ as: "broken", refused: false }),
      });
      this.#send();
    });
    this.#opening.once("response", ({ statusCode }) => {
      this.#opening.destroy();
      this.#close({ as: statusCode === MISDIRECTED ? "broken" : "incompatible", refused: false });
    });
    this.#opening.once("error", (error: NodeJS.ErrnoException) =>
      this.#close({ as: "broken", refused: error.code === "ECONNREFUSED" }),
    );
    this.#opening.end();
  }

  pass(passage: Passage): void {
    this.#due.push(passage);
    if (this.#frames && this.#due.length === 1) afterEvents(() => this.#send());
  }

  /** Its client has left. */
  cancel(passage: Passage): void {
    if (passage.number === undefined) this.#due = this.#due.filter((one) => one !== passage);
    else if (this.#tell(passage, FRAME.cancel)) this.#open.delete(passage.number);
  }

  /** The client reads again. */
  resume(passage: Passage): void {
    this.#tell(passage, FRAME.resume);
  }

  destroy(): void {
    this.#opening.destroy(new Error("the replica is gone"));
    this.#frames?.destroy();
  }

  #send(): void {
    const due = this.#due;
    this.#due = [];
    for (const passage of due) {
      this.#last = (this.#last + 1) % 2 ** 32;
      passage.number = this.#last;
      this.#open.set(this.#last, passage);
      this.#frames?.send(FRAME.request, this.#last, passage.content);
    }
    this.#frames?.flush();
  }

  #take({ kind, request, content }: Frame): void {
    const passage = this.#open.get(request);
    // What was still on its way to a client that has left.
    if (!passage) return;
    if (kind === FRAME.answer || kind === FRAME.data) {
      const isRead = kind === FRAME.answer ? passage.answer(content) : passage.data(content);
      if (!isRead) this.#tell(passage, FRAME.pause);
      return;
    }
    this.#open.delete(request);
    if (kind === FRAME.end) passage.end();
    else passage.failed({ as: "broken", refused: false });
  }

  /** Returns false if nothing more comes for it. */
  #tell(passage: Passage, kind: number): boolean {
    const { number } = passage;
    if (number === undefined || this.#open.get(number) !== passage) return false;
    this.#frames?.send(kind, number);
    return true;
  }

  #close(failure: Failure): void {
    this.#parts.onClosed();
    const ended = [...this.#open.values(), ...this.#due];
    this.#open.clear();
    this.#due = [];
    for (const passage of ended) passage.failed(failure);
  }
}

/**
 * Runs after all events that are due now. If the replica at the other end of a kept connection has died, this
 * process hears of it before it sends a request there, whose outcome nobody would know.
 */
function afterEvents(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
