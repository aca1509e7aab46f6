/**
 * The connection on which requests are passed on to one other replica, many at once. It is opened by a
 * request of HTTP, which says for whom it is and in which version both talk.
 */
import { type ClientRequest, request as httpRequest } from "node:http";
import type { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";
import { FrameSocket } from "./frame-socket.ts";
import { FRAME, type Frame, MAX_ANSWER_BYTES } from "./frames.ts";
import { FORWARD, FROM, HOP, HOP_VERSION, KEEP_ALIVE_MS, MISDIRECTED, PROTOCOL, TO } from "./hop-protocol.ts";

/**
 * So many bytes may wait for a replica that does not read. Further requests stay here, and can be taken back.
 */
const MAX_WAITING_BYTES = 1024 * 1024;
/** A replica that has requests is asked so often for a sign of life. */
const PING_MS = 5_000;
/** After so many without any the connection leads nowhere: TCP itself would need a quarter of an hour. */
const MAX_PINGS = 4;

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
  #pings = 0;
  readonly #pinging = setInterval(() => this.#ping(), PING_MS).unref();

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
        maxBytes: MAX_ANSWER_BYTES,
        onFrame: (frame) => this.#take(frame),
        onDrain: () => this.#send(),
        onClose: () => this.#close({ as: "broken", refused: false }),
      });
      this.#send();
    });
    this.#opening.once("response", ({ statusCode }) => {
      this.#opening.destroy();
      this.#close({ as: statusCode === MISDIRECTED ? "broken" : "incompatible", refused: false });
    });
    this.#opening.on("error", (error: NodeJS.ErrnoException) =>
      this.#close({ as: "broken", refused: error.code === "ECONNREFUSED" }),
    );
    this.#opening.end();
  }

  get replica(): string {
    return this.#parts.target.id;
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

  /** What cannot leave now stays due: until the other end reads again, or until the connection has closed. */
  #send(): void {
    const frames = this.#frames;
    let sent = 0;
    for (const passage of this.#due) {
      if (!frames || frames.destroyed || frames.waiting >= MAX_WAITING_BYTES) break;
      passage.number = this.#nextNumber();
      this.#open.set(passage.number, passage);
      frames.send(FRAME.request, passage.number, passage.content);
      sent += 1;
    }
    this.#due = this.#due.slice(sent);
    frames?.flush();
  }

  /** A stream may be older than all numbers. */
  #nextNumber(): number {
    do this.#last = (this.#last + 1) % 2 ** 32;
    while (this.#open.has(this.#last));
    return this.#last;
  }

  #ping(): void {
    if (this.#open.size === 0 && this.#due.length === 0) this.#pings = 0;
    else if (this.#pings === MAX_PINGS) this.destroy();
    else {
      this.#pings += 1;
      this.#frames?.send(FRAME.ping, 0);
    }
  }

  #take({ kind, request, content }: Frame): void {
    this.#pings = 0;
    const passage = this.#open.get(request);
    // What was still on its way to a client that has left.
    if (!passage || kind === FRAME.pong) return;
    if (kind === FRAME.answer || kind === FRAME.data) return this.#relay(passage, kind, content);
    this.#open.delete(request);
    if (kind === FRAME.end) passage.end();
    else passage.failed({ as: "broken", refused: false });
  }

  /** What cannot be passed on to one client is no fault of the others on the connection. */
  #relay(passage: Passage, kind: number, content: Buffer): void {
    try {
      const isRead = kind === FRAME.answer ? passage.answer(content) : passage.data(content);
      if (!isRead) this.#tell(passage, FRAME.pause);
    } catch {
      this.cancel(passage);
      passage.failed({ as: "broken", refused: false });
    }
  }

  /** Returns false if nothing more comes for it. */
  #tell(passage: Passage, kind: number): boolean {
    const { number } = passage;
    if (number === undefined || this.#open.get(number) !== passage) return false;
    this.#frames?.send(kind, number);
    return true;
  }

  #close(failure: Failure): void {
    clearInterval(this.#pinging);
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
