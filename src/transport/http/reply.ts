/** What goes back on one POST: held back a moment, so that most answers are one write; a stream once there is more to say. */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Message } from "../../rpc/message.ts";
import type { EventLog } from "./event-log.ts";

/** Clients give up on headers that do not come. */
const HOLD_MS = 1_000;
/** A client that reads this slowly is cut off; what it missed is in the log. */
const MOST_BACKLOG = 4 * 1024 * 1024;

export interface ReplyOptions {
  /** Of the request it belongs to. */
  readonly id: string;
  readonly clock: Clock;
  /** Plain JSON: nothing but the answer can go on it. */
  readonly json: boolean;
  /** For resuming; undefined where there is no session. */
  readonly log: (() => EventLog) | undefined;
  /** Its number among the session's streams. */
  readonly stream: number;
  /** The answer is about to go out. */
  readonly before: ((answer: Message) => void) | undefined;
  /** The answer has gone out, or none will. */
  done(reply: Reply): void;
}

export class Reply {
  readonly stream: number;
  readonly #options: ReplyOptions;
  #response: ServerResponse | undefined;
  #hold: Timer | undefined;
  #streaming = false;

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.stream = options.stream;
    this.#options = options;
    this.#response = response;
    if (!options.json) this.#hold = options.clock.after(HOLD_MS, () => this.#startStream());
    response.once("close", () => {
      if (this.#response === response) this.#response = undefined;
    });
  }

  get id(): string {
    return this.#options.id;
  }

  /** False: it can carry nothing but the answer. `status` holds for an answer that goes out alone. */
  send(message: Message, status = 200): boolean {
    const last = message.kind === "result" || message.kind === "error";
    if (!last && this.#options.json) return false;
    if (last) this.#options.before?.(message);
    else this.#startStream();
    if (this.#streaming) this.#write(message);
    else this.#endAtOnce(message, status);
    if (last) this.#finish();
    return true;
  }

  /** The client came back for a stream that broke: what is still to come goes there. */
  resume(response: ServerResponse): void {
    this.#response?.end();
    this.#response = response;
    response.once("close", () => {
      if (this.#response === response) this.#response = undefined;
    });
  }

  /** No answer will come. */
  abandon(): void {
    this.#hold?.cancel();
    if (!this.#streaming) this.#response?.writeHead(202);
    this.#response?.end();
    this.#options.done(this);
  }

  #startStream(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#hold?.cancel();
    const response = this.#response;
    if (!response) return;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const { log, stream } = this.#options;
    // An event with an id and no data: from here on the client can resume.
    if (log) response.write(`id: ${log().mark(stream)}\ndata: \n\n`);
    else response.flushHeaders();
  }

  #write(message: Message): void {
    const data = encode(message);
    const id = this.#options.log?.().add(this.stream, Buffer.concat(data));
    const response = this.#response;
    if (!response) return;
    for (const part of encodeEvent(data, id)) response.write(part);
    if (response.writableLength > MOST_BACKLOG) response.destroy();
  }

  #endAtOnce(message: Message, status: number): void {
    this.#hold?.cancel();
    // Who is refused by status need not know how to read streams.
    const json = this.#options.json || status !== 200;
    const body = Buffer.concat(json ? encode(message) : encodeEvent(encode(message)));
    this.#response?.writeHead(status, {
      "content-type": json ? "application/json" : "text/event-stream",
      "content-length": body.length,
    });
    this.#response?.end(body);
  }

  #finish(): void {
    if (this.#streaming) this.#response?.end();
    this.#options.done(this);
  }
}
