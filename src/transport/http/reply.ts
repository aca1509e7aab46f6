/** What goes back on one POST: held back a moment, so that most answers are one write; a stream once there is more to say. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { type TraceHeaders, traceHeadersIn } from "../../kernel/traceparent.ts";
import { encodeBatch } from "../../rpc/batch.ts";
import { encode, inPieces, lengthOf } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Message } from "../../rpc/message.ts";
import type { EventLog } from "./event-log.ts";
import type { HeldReplies, HeldReply } from "./held-replies.ts";
import { type Unread, writeOrCut } from "./unread.ts";

/** What a reply needs of its surroundings. */
export interface ReplyOwner {
  readonly clock: Clock;
  readonly heldReplies: HeldReplies;
  readonly unread: Unread;
  /** Plain JSON: nothing but the answer can go on it. */
  readonly json: boolean;
  /** For resuming; undefined where nobody can come back. */
  log(): EventLog | undefined;
  /** The answer is about to go out. */
  answering?(reply: Reply, answer: Message): void;
  /** The answer has gone out, or none will. */
  done(reply: Reply): void;
}

export class Reply implements HeldReply {
  /** Of the request it belongs to; undefined for those of a batch. */
  readonly id: Raw | undefined;
  /** Its number among the session's streams. */
  readonly stream: number;
  readonly #owner: ReplyOwner;
  #response: ServerResponse;
  #state: "held" | "streaming" | "over" = "held";

  constructor(owner: ReplyOwner, response: ServerResponse, id: Raw | undefined, stream: number) {
    this.id = id;
    this.stream = stream;
    this.#owner = owner;
    this.#response = response;
  }

  /** Becomes a stream if the answer takes its time. */
  streamSoon(): void {
    if (!this.#owner.json) this.#owner.heldReplies.add(this);
  }

  /** It has begun as a stream, so that its client may have an id to come back with. */
  get streaming(): boolean {
    return this.#state === "streaming";
  }

  /** Of the request it answers. */
  get trace(): TraceHeaders | undefined {
    return traceHeadersIn(this.#response.req.headers);
  }

  /** The response it goes to at present. */
  get response(): ServerResponse {
    return this.#response;
  }

  /** False: it can carry nothing (more) but the answer, or the answers to a batch. `status` holds for what goes out alone. */
  send(message: Message | readonly Message[], status = 200): boolean {
    const last = !("kind" in message) || message.kind === "result" || message.kind === "error";
    if (this.#state === "over" || (!last && this.#owner.json)) return false;
    if (!last) {
      this.startStream();
      this.#write(message);
      return true;
    }
    if ("kind" in message) this.#owner.answering?.(this, message);
    if (this.#state === "streaming") {
      this.#write(message);
      this.#response.end();
      this.#owner.unread.add(this.#response, this.#response.writableLength);
    } else this.#endAtOnce(message, status);
    this.#leave();
    return true;
  }

  /** The client came back for a stream that broke: what is still to come goes there. */
  resume(response: ServerResponse): void {
    if (!this.#response.destroyed) this.#response.end();
    this.#response = response;
  }

  /** No answer will come. */
  abandon(): void {
    if (this.#state === "over") return;
    if (this.#state === "held" && !this.#response.destroyed) this.#response.writeHead(202);
    this.#response.end();
    this.#leave();
  }

  /** It has been held back for long enough. */
  startStream(): void {
    if (this.#state !== "held") return;
    this.#owner.heldReplies.delete(this);
    this.#state = "streaming";
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const log = this.#owner.log();
    // An event with an id and no data: from here on the client can resume.
    if (log) this.#response.write(`id: ${log.mark(this.stream)}\ndata: \n\n`);
    else this.#response.flushHeaders();
  }

  /** Proxies and clients give up on streams that are silent for long. */
  beat(): void {
    if (this.#state === "streaming" && this.#response.writableLength === 0)
      writeOrCut(this.#response, ": \n\n");
  }

  #write(message: Message | readonly Message[]): void {
    const data = encoded(message);
    const log = this.#owner.log();
    const bytes = log
      ? log.add(this.stream, data, this.#owner.clock.now())
      : Buffer.concat(encodeEvent(data));
    writeOrCut(this.#response, bytes);
  }

  #endAtOnce(message: Message | readonly Message[], status: number): void {
    const response = this.#response;
    if (response.destroyed) return;
    // Who is refused by status need not know how to read streams.
    const json = this.#owner.json || status !== 200;
    const body = json ? encoded(message) : encodeEvent(encoded(message));
    const bytes = lengthOf(body);
    response.writeHead(status, {
      "content-type": json ? "application/json" : "text/event-stream",
      "content-length": bytes,
    });
    const pieces = inPieces(body, bytes);
    const last = pieces.pop();
    if (pieces.length > 0) response.cork();
    for (const piece of pieces) response.write(piece);
    response.end(last);
    this.#owner.unread.add(response, bytes);
  }

  #leave(): void {
    if (this.#state === "held") this.#owner.heldReplies.delete(this);
    this.#state = "over";
    this.#owner.done(this);
  }
}

function encoded(message: Message | readonly Message[]): Buffer[] {
  return "kind" in message ? encode(message) : encodeBatch(message);
}
